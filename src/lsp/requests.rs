//! What can be asked: each request to the module that answers it.
//!
//! Promise: a request that cannot be read, or is not known, is refused by name; one that has no answer gets an empty one.

use lsp_server::{ErrorCode, RequestId, Response};
use lsp_types::request as ask;
use serde_json::{Value, json};

use super::server::Server;
use super::{actions, complete, hints, hover, index, symbols, tokens};

/// The command that runs a test: the URI of its file, its title.
pub const RUN_TEST: &str = "anchorwatch.runTest";
/// The command of a lens that only tells.
pub const TELL: &str = "anchorwatch.tell";

/// What the server can do.
pub fn capabilities(encoding: &str) -> Value {
    json!({
        "positionEncoding": encoding,
        "textDocumentSync": {"openClose": true, "change": 2, "save": true},
        "hoverProvider": true,
        "completionProvider": {"triggerCharacters": [".", "(", ":", "{"]},
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": {"prepareProvider": true},
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "documentFormattingProvider": true,
        "foldingRangeProvider": true,
        "inlayHintProvider": true,
        "codeLensProvider": {"resolveProvider": false},
        "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll"]},
        "executeCommandProvider": {"commands": [RUN_TEST, TELL]},
        "semanticTokensProvider": {"legend": tokens::legend(), "full": true, "range": true},
        "workspace": {"workspaceFolders": {"supported": true}},
    })
}

type Answer = Result<Value, (ErrorCode, String)>;

/// Answers one request.
pub fn answer(server: &mut Server, id: RequestId, method: &str, params: Value) -> Response {
    match dispatch(server, method, params) {
        Ok(result) => Response::new_ok(id, result),
        Err((code, message)) => Response::new_err(id, code as i32, message),
    }
}

/// Reads the parameters, asks, writes the result.
fn of<R: ask::Request>(params: Value, asked: impl FnOnce(R::Params) -> Result<R::Result, String>) -> Answer {
    let params =
        serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))?;
    let result = asked(params).map_err(|why| (ErrorCode::RequestFailed, why))?;
    serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn dispatch(server: &mut Server, method: &str, params: Value) -> Answer {
    use ask::Request as _;
    match method {
        ask::HoverRequest::METHOD => {
            of::<ask::HoverRequest>(params, |params| Ok(hover::hover(server, &params)))
        }
        ask::Completion::METHOD => {
            of::<ask::Completion>(params, |params| Ok(complete::complete(server, &params)))
        }
        ask::GotoDefinition::METHOD => {
            of::<ask::GotoDefinition>(params, |params| Ok(index::definition(server, &params)))
        }
        ask::References::METHOD => {
            of::<ask::References>(params, |params| Ok(index::references(server, &params)))
        }
        ask::DocumentHighlightRequest::METHOD => {
            of::<ask::DocumentHighlightRequest>(params, |params| Ok(index::highlights(server, &params)))
        }
        ask::PrepareRenameRequest::METHOD => {
            of::<ask::PrepareRenameRequest>(params, |params| index::prepare_rename(server, &params))
        }
        ask::Rename::METHOD => of::<ask::Rename>(params, |params| index::rename(server, &params)),
        ask::DocumentSymbolRequest::METHOD => {
            of::<ask::DocumentSymbolRequest>(params, |params| Ok(symbols::of_document(server, &params)))
        }
        ask::WorkspaceSymbolRequest::METHOD => {
            of::<ask::WorkspaceSymbolRequest>(params, |params| Ok(symbols::of_workspace(server, &params)))
        }
        ask::FoldingRangeRequest::METHOD => {
            of::<ask::FoldingRangeRequest>(params, |params| Ok(symbols::folds(server, &params)))
        }
        ask::Formatting::METHOD => {
            of::<ask::Formatting>(params, |params| Ok(actions::format(server, &params)))
        }
        ask::CodeActionRequest::METHOD => {
            of::<ask::CodeActionRequest>(params, |params| Ok(actions::actions(server, &params)))
        }
        ask::InlayHintRequest::METHOD => {
            of::<ask::InlayHintRequest>(params, |params| Ok(hints::inlay(server, &params)))
        }
        ask::CodeLensRequest::METHOD => {
            of::<ask::CodeLensRequest>(params, |params| Ok(hints::lenses(server, &params)))
        }
        ask::ExecuteCommand::METHOD => {
            of::<ask::ExecuteCommand>(params, |params| hints::execute(server, &params))
        }
        ask::SemanticTokensFullRequest::METHOD => {
            of::<ask::SemanticTokensFullRequest>(params, |params| Ok(tokens::full(server, &params)))
        }
        ask::SemanticTokensRangeRequest::METHOD => {
            of::<ask::SemanticTokensRangeRequest>(params, |params| Ok(tokens::in_range(server, &params)))
        }
        _ => Err((ErrorCode::MethodNotFound, format!("there is no request `{method}`"))),
    }
}
