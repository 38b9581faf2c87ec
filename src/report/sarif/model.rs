//! The part of SARIF 2.1.0 that reports use, field by field as the standard names them.
//!
//! The crates that have all of it are generated from the schema and cost more to build than this costs to read; the
//! schema itself stands in `tests/support/` and every kind of report is checked against it.

use serde::Serialize;

pub const VERSION: &str = "2.1.0";
pub const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Serialize)]
pub struct Log<'a> {
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    pub version: &'static str,
    pub runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run<'a> {
    pub tool: Tool,
    pub invocations: [Invocation<'a>; 1],
    pub column_kind: &'static str,
    pub results: Vec<ResultObject<'a>>,
}

#[derive(Serialize)]
pub struct Tool {
    pub driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Driver {
    pub name: &'static str,
    pub semantic_version: &'static str,
    pub rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_description: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_description: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<Message>,
}

#[derive(Serialize)]
pub struct Message {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
}

impl From<String> for Message {
    fn from(text: String) -> Message {
        Message { text, markdown: None }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation<'a> {
    pub execution_successful: bool,
    pub exit_code: u8,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_execution_notifications: Vec<Notification<'a>>,
}

#[derive(Serialize)]
pub struct Notification<'a> {
    pub descriptor: Reference<'a>,
    pub level: &'static str,
    pub message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location<'a>>,
}

#[derive(Serialize)]
pub struct Reference<'a> {
    pub id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultObject<'a> {
    pub rule_id: &'a str,
    pub rule_index: usize,
    pub level: &'static str,
    pub message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_locations: Vec<Location<'a>>,
    pub partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<Fix<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fingerprints {
    /// The one that GitHub compares. Its uploader makes it from the line, which findings in graphs do not have.
    pub primary_location_line_hash: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logical_locations: Vec<LogicalLocation<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhysicalLocation {
    pub artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
}

#[derive(Serialize)]
pub struct ArtifactLocation {
    pub uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Region {
    pub start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogicalLocation<'a> {
    pub fully_qualified_name: &'a str,
    pub kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fix<'a> {
    pub description: Message,
    pub artifact_changes: [ArtifactChange<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactChange<'a> {
    pub artifact_location: ArtifactLocation,
    pub replacements: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replacement<'a> {
    pub deleted_region: Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inserted_content: Option<Content<'a>>,
}

#[derive(Serialize)]
pub struct Content<'a> {
    pub text: &'a str,
}
