//! Reads the tree into the types of `file.rs`: exact keys, exact types, exact places.

use super::error::SceneError;
use super::suggest::{did_you_mean, quoted};
use super::tree::{Kind, Node, Place, Source};

/// A place in the scene: a value, or the table in which a value is missing.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub source: &'a Source,
    pub node: &'a Node,
    /// The key of the value, for messages.
    pub label: &'a str,
    /// The table also holds the `type` that chose how it is read.
    tagged: bool,
}

impl<'a> At<'a> {
    pub fn root(source: &'a Source) -> Self {
        At { source, node: &source.root, label: "scene", tagged: false }
    }

    /// The value of a key; where there is none, the table it would be in.
    pub fn key(self, key: &'a str) -> Self {
        At { node: self.node.child(key).unwrap_or(self.node), label: key, tagged: false, ..self }
    }

    /// An element of a list, or a value of a table by its position in the file.
    pub fn index(self, index: usize) -> Self {
        let (node, label) = match &self.node.kind {
            Kind::List(nodes) => (nodes.get(index), self.label),
            Kind::Table(entries) => match entries.get(index) {
                Some((key, node)) => (Some(node), key.as_str()),
                None => (None, self.label),
            },
            _ => (None, self.label),
        };
        At { node: node.unwrap_or(self.node), label, tagged: false, ..self }
    }

    pub fn error(self, message: impl Into<String>, help: impl Into<String>) -> SceneError {
        self.source.error(&self.node.place).saying(message, help)
    }

    /// An error at the key rather than at the value.
    pub fn key_error(self, message: impl Into<String>, help: impl Into<String>) -> SceneError {
        let place: &Place = self.node.key.as_ref().unwrap_or(&self.node.place);
        self.source.error(place).saying(message, help)
    }

    pub fn wrong_type(self, expected: &str, example: &str) -> SceneError {
        let found = self.node.kind.describe();
        self.error(
            format!("{} must be {expected}, but is {found}", quoted(self.label)),
            format!("write {expected}, as in {} = {example}", self.label),
        )
    }

    /// A required or optional field of a table.
    pub fn field<T: Read>(self, key: &'a str) -> Result<T, SceneError> {
        match self.node.child(key) {
            Some(node) => T::read(At { node, label: key, tagged: false, ..self }),
            None => T::missing(self, key),
        }
    }

    /// Refuses keys that mean nothing here.
    pub fn only_keys(self, allowed: &[&str]) -> Result<(), SceneError> {
        let Kind::Table(entries) = &self.node.kind else {
            return Err(self.wrong_type("a table", "{ ... }"));
        };
        for (key, node) in entries {
            let known = allowed.contains(&key.as_str()) || (self.tagged && key == "type");
            if !known {
                let near = did_you_mean(key, allowed.iter().copied());
                let message = format!("unknown key {} in {}{near}", quoted(key), quoted(self.label));
                let help = format!("the keys here are: {}", allowed.join(", "));
                return Err(At { node, ..self }.key_error(message, help));
            }
        }
        Ok(())
    }

    /// One of a set of words; `later` are words of the format that this version cannot do.
    pub fn word<T: Copy>(self, words: &[(&str, T)], later: &[&str]) -> Result<T, SceneError> {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let one_of = format!("one of: {}", names.join(", "));
        let Kind::Text(text) = &self.node.kind else {
            return Err(self
                .wrong_type("a word in quotes", &format!("\"{}\"", names[0]))
                .with_help_tail(&one_of));
        };
        if let Some((_, value)) = words.iter().find(|(name, _)| name == text) {
            return Ok(*value);
        }
        let message = if later.contains(&text.as_str()) {
            format!("{} {} is not in this version", self.label, quoted(text))
        } else {
            let near = did_you_mean(text, names.iter().copied());
            format!("unknown {} {}{near}", self.label, quoted(text))
        };
        Err(self.error(message, format!("use {one_of}")))
    }

    /// A table that says by its `type` how it is read.
    pub fn typed<T>(self, readers: &[(&str, Reader<T>)], later: &[&str]) -> Result<T, SceneError> {
        let names: Vec<&str> = readers.iter().map(|(name, _)| *name).collect();
        if !matches!(self.node.kind, Kind::Table(_)) {
            return Err(
                self.wrong_type("a table with a type", &format!("{{ type = \"{}\", ... }}", names[0]))
            );
        }
        if self.node.child("type").is_none() {
            let message = format!("{} has no type", quoted(self.label));
            return Err(self.error(message, format!("add type = \"...\", one of: {}", names.join(", "))));
        }
        let read = self.key("type").word(readers, later)?;
        read(At { tagged: true, ..self })
    }
}

/// Reads a table whose type is known.
pub(super) type Reader<T> = fn(At<'_>) -> Result<T, SceneError>;

impl SceneError {
    fn with_help_tail(mut self, tail: &str) -> Self {
        self.help = format!("{}; {tail}", self.help);
        self
    }
}

/// A type that can be read from a value of the scene file.
pub(super) trait Read: Sized {
    fn read(at: At<'_>) -> Result<Self, SceneError>;

    /// What a missing key means; an error unless said otherwise.
    fn missing(table: At<'_>, key: &str) -> Result<Self, SceneError> {
        Err(table.error(
            format!("{} is missing in {}", quoted(key), quoted(table.label)),
            format!("add a line {key} = ... here"),
        ))
    }
}

impl<T: Read> Read for Option<T> {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        T::read(at).map(Some)
    }

    fn missing(_: At<'_>, _: &str) -> Result<Self, SceneError> {
        Ok(None)
    }
}

impl Read for f64 {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Integer(number) => Ok(number as f64),
            Kind::Float(number) if number.is_finite() => Ok(number),
            Kind::Float(number) => {
                let message = format!("{} must be a finite number, but is {number}", quoted(at.label));
                Err(at.error(message, "write an ordinary number, such as 0.5 or 1e4"))
            }
            _ => Err(at.wrong_type("a number", "0.5")),
        }
    }
}

impl Read for u64 {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Integer(number) => u64::try_from(number).map_err(|_| {
                let message = format!("{} must not be negative, but is {number}", quoted(at.label));
                at.error(message, "write a whole number, 0 or more")
            }),
            _ => Err(at.wrong_type("a whole number", "1")),
        }
    }
}

impl Read for bool {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Bool(flag) => Ok(flag),
            _ => Err(at.wrong_type("true or false", "true")),
        }
    }
}

impl Read for String {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match &at.node.kind {
            Kind::Text(text) => Ok(text.clone()),
            _ => Err(at.wrong_type("text in quotes", "\"...\"")),
        }
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match &at.node.kind {
            Kind::List(nodes) => (0..nodes.len()).map(|index| T::read(at.index(index))).collect(),
            Kind::Table(_) => {
                let message = format!("{} must be a list, but is one table", quoted(at.label));
                Err(at.error(message, format!("write the heading with double brackets: [[{}]]", at.label)))
            }
            _ => Err(at.wrong_type("a list", "[...]")),
        }
    }
}

impl<T: Read, const N: usize> Read for [T; N] {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        let help = format!("write {N} numbers in brackets, as in {} = [{}]", at.label, ["1"; N].join(", "));
        let Kind::List(nodes) = &at.node.kind else {
            let found = at.node.kind.describe();
            let message = format!("{} must be a list of {N} numbers, but is {found}", quoted(at.label));
            return Err(at.error(message, help));
        };
        let values: Vec<T> =
            (0..nodes.len().min(N)).map(|index| T::read(at.index(index))).collect::<Result<_, _>>()?;
        let count = nodes.len();
        match <[T; N]>::try_from(values) {
            Ok(values) if count == N => Ok(values),
            _ => {
                let message = format!("{} must have exactly {N} numbers, but has {count}", quoted(at.label));
                Err(at.error(message, help))
            }
        }
    }
}

/// Declares a table of the scene file: a struct whose fields are the keys, with its schema and its reading.
macro_rules! table {
    ($(#[$meta:meta])* $name:ident { $( $(#[$field_meta:meta])* $field:ident: $type:ty, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields)]
        pub(in crate::scene) struct $name { $( $(#[$field_meta])* pub $field: $type, )* }

        impl $crate::scene::read::Read for $name {
            fn read(at: $crate::scene::read::At<'_>) -> Result<Self, $crate::scene::SceneError> {
                at.only_keys(&[$( stringify!($field) ),*])?;
                Ok($name { $( $field: at.field(stringify!($field))?, )* })
            }
        }
    };
}

/// Declares a choice of words, and the words that only later versions know.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $( $(#[$word_meta:meta])* $variant:ident = $word:literal, )* } later [$( $later:literal ),*]) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, schemars::JsonSchema)]
        pub(in crate::scene) enum $name { $( $(#[$word_meta])* #[schemars(rename = $word)] $variant, )* }

        impl $crate::scene::read::Read for $name {
            fn read(at: $crate::scene::read::At<'_>) -> Result<Self, $crate::scene::SceneError> {
                at.word(&[$( ($word, $name::$variant) ),*], &[$( $later ),*])
            }
        }
    };
}

/// Declares tables that say by `type` which of several they are.
macro_rules! typed {
    ($(#[$meta:meta])* $name:ident { $( $(#[$type_meta:meta])* $variant:ident($table:ty) = $word:literal, )* } later [$( $later:literal ),*]) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
        #[schemars(tag = "type")]
        pub(in crate::scene) enum $name { $( $(#[$type_meta])* #[schemars(rename = $word)] $variant($table), )* }

        impl $crate::scene::read::Read for $name {
            fn read(at: $crate::scene::read::At<'_>) -> Result<Self, $crate::scene::SceneError> {
                let readers: &[(&str, $crate::scene::read::Reader<Self>)] =
                    &[$( ($word, |at| <$table>::read(at).map($name::$variant)) ),*];
                at.typed(readers, &[$( $later ),*])
            }
        }
    };
}
pub(super) use {table, typed, words};
