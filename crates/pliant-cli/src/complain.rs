//! Errors as people see them, and the exit codes: 1 a run failed, 2 bad input.

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource};
use pliant::output::OutputError;
use pliant::run::RunError;
use pliant::scene::{Origin, SceneError};
use std::process::ExitCode;

/// Input that is not a scene: a flag, a folder, a name.
#[derive(Debug)]
pub struct BadInput(pub String);

impl std::fmt::Display for BadInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

/// Prints the error once and gives the exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    match scene_error(error) {
        Some(scene) => {
            eprint!("{}", draw(scene));
            ExitCode::from(2)
        }
        None => {
            eprintln!("error: {}", words(error));
            ExitCode::from(code(error))
        }
    }
}

/// Ends the program when standard output takes no more: quietly if its reader has gone, as `head` does.
pub fn nobody_listens(error: &std::io::Error) -> ! {
    if error.kind() != std::io::ErrorKind::BrokenPipe {
        eprintln!("error: cannot write to standard output: {error}");
    }
    std::process::exit(1)
}

/// The exit code an error leads to.
pub fn code(error: &anyhow::Error) -> u8 {
    use RunError::{Folder, Foreign, Output};
    let is_bad_folder = matches!(
        error.downcast_ref::<RunError>(),
        Some(Folder(_) | Foreign { .. } | Output(OutputError::NoCheckpoint { .. }))
    );
    if scene_error(error).is_some() || error.is::<BadInput>() || is_bad_folder { 2 } else { 1 }
}

/// The error with its causes; a cause it names itself is not said twice.
pub fn words(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(|cause| cause.to_string()) {
        if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

fn scene_error(error: &anyhow::Error) -> Option<&SceneError> {
    error.downcast_ref::<SceneError>().or_else(|| match error.downcast_ref::<RunError>() {
        Some(RunError::Scene(scene)) => Some(scene),
        _ => None,
    })
}

/// The place in the file with what is wrong and what to do.
fn draw(error: &SceneError) -> String {
    let mut diagnostic = MietteDiagnostic::new(error.to_string()).with_help(&error.help);
    if error.origin == Origin::File {
        let span = error.span.start..error.span.end.max(error.span.start + 1).min(error.text.len());
        diagnostic = diagnostic.with_label(LabeledSpan::at(span, "here"));
    }
    let report = miette::Report::new(diagnostic)
        .with_source_code(NamedSource::new(&error.file, error.text.to_string()));
    let theme = match std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        true => GraphicalTheme::unicode(),
        false => GraphicalTheme::unicode_nocolor(),
    };
    let mut text = String::new();
    match GraphicalReportHandler::new_themed(theme).render_report(&mut text, report.as_ref()) {
        Ok(()) => text,
        Err(_) => format!("error: {error}\n  help: {}\n", error.help),
    }
}
