//! Every kind of diagnostic has a code that never changes its meaning. One table, so that the
//! reference page can be made from it.

use super::diagnostic::Severity;
use serde::{Serialize, Serializer};
use std::fmt;

macro_rules! codes {
    ($($variant:ident = $code:literal, $severity:ident, $title:literal;)*) => {
        /// What kind of mistake a diagnostic is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($variant,)* }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title),* }
            }

            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),* }
            }
        }
    };
}

codes! {
    TooLarge = "E001", Error, "the text is too large";
    NotUtf8 = "E002", Error, "the text is not UTF-8";
    ForbiddenCharacter = "E003", Error, "a character that text may not contain";
    Syntax = "E004", Error, "not valid YAML";
    TooDeep = "E005", Error, "nested too deep";
    TooManyNodes = "E006", Error, "too many values";
    SeveralDocuments = "E007", Error, "more than one document";
    EmptyDocument = "E008", Error, "the text is empty";
    DuplicateKey = "E009", Error, "the same field twice";
    BadKey = "E010", Error, "a field name that is not text";
    MergeKey = "E011", Error, "merge keys are not supported";
    UnknownAlias = "E012", Error, "an alias without its anchor";
    RecursiveAlias = "E013", Error, "an alias inside its own anchor";
    UnknownTag = "E014", Error, "a tag that is not supported";
    BadNumber = "E015", Error, "a number that is not clear or too large";
    Template = "E016", Error, "a template where none is taken";

    UnknownField = "E101", Error, "unknown field";
    UnsupportedField = "E102", Error, "not supported by this version";
    MissingField = "E103", Error, "a required field is missing";
    WrongType = "E104", Error, "a value of the wrong type";
    BadName = "E105", Error, "a name that is not allowed";
    UnknownWord = "E106", Error, "not one of the allowed words";
    BadDuration = "E107", Error, "not a duration";
    BadSize = "E108", Error, "not a size";
    OutOfRange = "E109", Error, "out of range";
    BadText = "E110", Error, "text that cannot be used here";
    NotADefault = "E111", Error, "a field that cannot be a default";
    DefaultsTooLarge = "E112", Error, "defaults too large for so many tasks";

    NoTasks = "E201", Error, "a workflow without tasks";
    TooManyTasks = "E202", Error, "too many tasks";
    NoAction = "E203", Error, "a task without an action";
    SeveralActions = "E204", Error, "a task with more than one action";
    UnknownDependency = "E205", Error, "a dependency on a task that does not exist";
    SelfDependency = "E206", Error, "a task that depends on itself";
    DuplicateDependency = "E207", Error, "the same dependency twice";
    Cycle = "E208", Error, "tasks that wait for each other";
    WhenBesideOnFailure = "E209", Error, "`when` beside `on_failure: run` or `always: true`";
    UnknownTier = "E210", Error, "unknown tier";
    RetryConflict = "E211", Error, "retry rules that contradict each other";
    NeverRetried = "E212", Error, "an error class that is never retried";
    NotAbove = "E213", Error, "a task that does not come before";
    BadArtifact = "E214", Error, "an artifact that cannot be";
    NothingToFinalize = "E215", Error, "a finalizer of a task that does no work";
    BesideWorkspace = "E216", Error, "a field that does not go with a workspace";
    BesideWorkflow = "E217", Error, "a field that does not go with a child run";
    NoDecider = "E218", Error, "an approval by those who may not decide";
    OutsideWorkspace = "E219", Error, "a `workdir` that leaves its workspace";

    BadSchema = "E301", Error, "not a valid JSON Schema";
    SchemaReference = "E302", Error, "a schema reference that is not supported";
    BadDefault = "E303", Error, "a default that breaks its own schema";
    SchemaTooLarge = "E304", Error, "a schema that is too large";

    BadExpression = "E401", Error, "an expression that cannot be used";
    UnknownReference = "E402", Error, "an expression that names what is not there";
    ShellTemplate = "E403", Error, "a template in a place of a script that takes none";

    TooManyProblems = "E999", Error, "more problems than are shown";

    InputClash = "W001", Warning, "an input under a name that is taken";
    NoEffect = "W002", Warning, "a field without effect";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_say_their_severity() {
        let words: std::collections::BTreeSet<_> = Code::ALL.iter().map(|c| c.word()).collect();
        assert_eq!(words.len(), Code::ALL.len());
        for code in Code::ALL {
            let letter = if code.severity() == Severity::Error { 'E' } else { 'W' };
            assert!(code.word().starts_with(letter), "{code}");
        }
    }
}
