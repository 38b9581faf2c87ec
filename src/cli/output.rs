//! Files out.
//!
//! Promise: a file is there whole or not at all. It is written beside its target under another name, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::input::reason;
use crate::format::Format;
use crate::report::Complaint;

/// The format that a file name asks for, and whether it is to be compressed. `None`: the name says nothing.
pub fn format_of(path: &Path) -> (Option<Format>, bool) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (name, compressed) = match name.strip_suffix(".gz") {
        Some(name) => (name, true),
        None => (name.as_str(), false),
    };
    let format = match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("txt") => Some(Format::GeText),
        Some("air") => Some(Format::GeBinary),
        Some("om") => Some(Format::Om),
        Some("pbtxt") => Some(Format::GeOnnx),
        Some("onnx") => Some(Format::Onnx),
        Some("graph") => Some(Format::Notation),
        _ => None,
    };
    (format, compressed)
}

/// The bytes as a `.gz` file. The same bytes give the same file: no time and no name is stored.
pub fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// A written file that does not have its name yet. Dropped without [`Pending::commit`], it goes away.
#[derive(Debug)]
pub struct Pending {
    temporary: Option<PathBuf>,
    target: PathBuf,
}

impl Pending {
    /// Writes `bytes` beside `target`; straight into it if it is a pipe or a device.
    pub fn write(target: &Path, bytes: &[u8]) -> Result<Pending, Complaint> {
        let failed = |error: io::Error| {
            let message = format!("`{}` cannot be written: {}", target.display(), reason(&error));
            Complaint::error("io::write", message)
        };
        match fs::metadata(target) {
            Ok(meta) if meta.is_dir() => {
                return Err(Complaint::error("io::write", format!("`{}` is a directory", target.display()))
                    .help("give the name of a file"));
            }
            Ok(meta) if !meta.is_file() => {
                let mut file = OpenOptions::new().write(true).open(target).map_err(failed)?;
                file.write_all(bytes).map_err(failed)?;
                return Ok(Pending { temporary: None, target: target.to_owned() });
            }
            _ => {}
        }
        // A link keeps pointing at the file that it names.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let (temporary, mut file) = create_beside(&target).map_err(failed)?;
        let pending = Pending { temporary: Some(temporary), target };
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(pending)
    }

    /// Gives the file its name.
    pub fn commit(mut self) -> Result<(), Complaint> {
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        if let Ok(meta) = fs::metadata(&self.target) {
            // Who could read the old file can read the new one. If that cannot be kept the file is still right.
            let _ = fs::set_permissions(&temporary, meta.permissions());
        }
        fs::rename(&temporary, &self.target).map_err(|error| {
            let _ = fs::remove_file(&temporary);
            let message = format!("`{}` cannot be written: {}", self.target.display(), reason(&error));
            Complaint::error("io::write", message)
        })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// A new file in the directory of `target`, under a name that nothing has.
fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
    let mut number = 0u32;
    loop {
        let temporary = target.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let of = |name: &str| format_of(Path::new(name));
        assert_eq!(of("a/b.txt"), (Some(Format::GeText), false));
        assert_eq!(of("b.TXT.gz"), (Some(Format::GeText), true));
        assert_eq!(of("b.graph"), (Some(Format::Notation), false));
        assert_eq!(of("b"), (None, false));
        assert_eq!(of("b.gz"), (None, true));
    }

    #[test]
    fn a_file_appears_when_it_is_committed_and_leaves_nothing_beside() {
        let dir = tempfile::tempdir().expect("a directory");
        let target = dir.path().join("out.txt");
        let count = || fs::read_dir(dir.path()).expect("a listing").count();
        let pending = Pending::write(&target, b"new").expect("a writable directory");
        assert!(!target.exists());
        pending.commit().expect("a rename");
        assert_eq!((fs::read(&target).expect("the file"), count()), (b"new".to_vec(), 1));
        drop(Pending::write(&target, b"newer").expect("a writable directory"));
        assert_eq!((fs::read(&target).expect("the file"), count()), (b"new".to_vec(), 1));
    }

    #[test]
    fn a_directory_is_no_target() {
        let dir = tempfile::tempdir().expect("a directory");
        let complaint = Pending::write(dir.path(), b"x").expect_err("it is a directory");
        assert_eq!(complaint.code, "io::write");
        assert!(Pending::write(&dir.path().join("no/such/dir"), b"x").is_err());
    }
}
