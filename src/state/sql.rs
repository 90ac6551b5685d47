//! What the tables of a state need of a database: rows are read, and statements are run in one transaction.
//!
//! A database has a folder of its own, which alone names its library, and implements [`SqlDatabase`]. The SQL is what
//! SQLite and PostgreSQL have in common; a statement names its values `?1`, `?2` and so on. Databases differ in how
//! they sort text.

use std::borrow::Cow;

use super::address::StateAddress;
use super::kept_change::KeptChange;
use super::{ApplyId, error};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::{Name, Rtype, ZoneName};
use crate::inventory::value::Time;
use crate::target::{CopyId, Marker, TargetId};

/// A value of a row or of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlValue<'a> {
    /// None.
    Null,
    /// A number.
    Integer(i64),
    /// A text.
    Text(&'a str),
    /// The content of a file.
    Octets(&'a [u8]),
}

/// What can be a value of a statement.
pub trait ToSqlValue {
    /// The value.
    fn to_value(&self) -> SqlValue<'_>;
}

impl ToSqlValue for str {
    fn to_value(&self) -> SqlValue<'_> {
        SqlValue::Text(self)
    }
}

impl ToSqlValue for String {
    fn to_value(&self) -> SqlValue<'_> {
        SqlValue::Text(self)
    }
}

impl ToSqlValue for Cow<'_, str> {
    fn to_value(&self) -> SqlValue<'_> {
        SqlValue::Text(self)
    }
}

impl ToSqlValue for Vec<u8> {
    fn to_value(&self) -> SqlValue<'_> {
        SqlValue::Octets(self)
    }
}

impl<T: ToSqlValue> ToSqlValue for Option<T> {
    fn to_value(&self) -> SqlValue<'_> {
        self.as_ref().map_or(SqlValue::Null, T::to_value)
    }
}

impl<T: ToSqlValue + ?Sized> ToSqlValue for &T {
    fn to_value(&self) -> SqlValue<'_> {
        T::to_value(self)
    }
}

/// The values of a statement, each of which is [`ToSqlValue`].
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::state::sql::ToSqlValue::to_value(&$value)),*]
    };
}

pub(super) use values;

/// What a value of a row can be read as.
pub trait FromSqlValue: Sized {
    /// Reads a value; `None` where it is of another kind.
    fn from_value(value: SqlValue<'_>) -> Option<Self>;
}

/// Types that a database keeps as numbers: how each becomes one, and is made of one.
macro_rules! numbers {
    ($($type:ty: $to:expr, $from:expr;)*) => {$(
        impl ToSqlValue for $type {
            fn to_value(&self) -> SqlValue<'_> {
                SqlValue::Integer($to(*self))
            }
        }

        impl FromSqlValue for $type {
            fn from_value(value: SqlValue<'_>) -> Option<$type> {
                if let SqlValue::Integer(number) = value { Some($from(number)) } else { None }
            }
        }
    )*};
}

numbers! {
    i64: i64::from, i64::from;
    bool: i64::from, |number| number != 0;
    Time: Time::as_nanos, Time::from_nanos;
    ApplyId: |id: ApplyId| id.0 as i64, |id| ApplyId(id as u64);
}

impl FromSqlValue for String {
    fn from_value(value: SqlValue<'_>) -> Option<String> {
        if let SqlValue::Text(text) = value { Some(text.to_owned()) } else { None }
    }
}

impl FromSqlValue for Vec<u8> {
    fn from_value(value: SqlValue<'_>) -> Option<Vec<u8>> {
        if let SqlValue::Octets(octets) = value { Some(octets.to_owned()) } else { None }
    }
}

impl<T: FromSqlValue> FromSqlValue for Option<T> {
    fn from_value(value: SqlValue<'_>) -> Option<Option<T>> {
        if value == SqlValue::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}

/// A row that a query gives.
pub trait SqlRow {
    /// The state that it is of.
    fn address(&self) -> &StateAddress;

    /// The value in a column, counted from 0.
    ///
    /// Errors: it is none that zonewright writes.
    fn value(&self, column: usize) -> Result<SqlValue<'_>, Problem>;
}

impl dyn SqlRow + '_ {
    /// Reads the value in a column, counted from 0.
    ///
    /// Errors: it is none, or of another kind.
    pub fn get<T: FromSqlValue>(&self, column: usize) -> Result<T, Problem> {
        let odd = || error::unreadable(self.address(), format!("column {column} of a row has a value of another kind"));
        T::from_value(self.value(column)?).ok_or_else(odd)
    }
}

/// What rows are read from: a database, or a transaction of it.
pub trait SqlRead {
    /// The state that is kept there.
    fn address(&self) -> &StateAddress;

    /// Runs a query, and shows each row that it gives.
    fn query(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        show: &mut dyn FnMut(&dyn SqlRow) -> Result<(), Problem>,
    ) -> Result<(), Problem>;
}

/// A transaction: it is done whole or not at all.
pub trait SqlChange: SqlRead {
    /// Runs a statement; gives how many rows it was about.
    fn execute(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<usize, Problem>;
}

/// A database that is open. Statements are few, and each is parsed once.
pub trait SqlDatabase: SqlRead + Send {
    /// Does work that writes: all of it is durable when this returns, or nothing.
    fn write<T>(&mut self, work: impl FnOnce(&dyn SqlChange) -> Result<T, Problem>) -> Result<T, Problem>;

    /// A number that is another one after another process wrote anything, while this is open.
    fn data_version(&self) -> Result<u64, Problem>;
}

/// Reads what the tables hold.
pub trait SqlRows: SqlRead {
    /// All rows that a query gives.
    fn rows<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        mut read: impl FnMut(&dyn SqlRow) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        let mut rows = Vec::new();
        self.query(sql, values, &mut |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The first row that a query gives; `None` where it gives none.
    fn row<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        read: impl FnMut(&dyn SqlRow) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        Ok(self.rows(sql, values, read)?.into_iter().next())
    }

    /// The error for a write that is about what is not there.
    fn absent(&self, what: &str) -> Problem {
        error::unusable(self.address(), error::StateAttempt::Write, &format!("it has no {what}"))
    }

    /// The error for a value that zonewright never writes.
    fn odd(&self, what: &str, text: &str) -> Problem {
        error::unreadable(self.address(), format!("`{text}` is not a {what}"))
    }

    /// Reads a zone's name.
    fn zone(&self, text: &str) -> Result<ZoneName, Problem> {
        Name::parse(text).map(ZoneName::new).map_err(|_| self.odd("name of a zone", text))
    }

    /// Reads what names a copy: its pool, its target and its zone.
    fn copy(&self, pool: &str, target: &str, zone: &str) -> Result<CopyId, Problem> {
        let pool = pool.parse().map_err(|_| self.odd("name of a pool", pool))?;
        Ok(CopyId { target: TargetId { pool, name: target.to_owned() }, zone: self.zone(zone)? })
    }

    /// Reads a subject.
    fn subject(&self, text: &str) -> Result<Subject, Problem> {
        text.parse().map_err(|_| self.odd("subject", text))
    }

    /// Reads the owner name and the type of an RRset.
    fn rrset(&self, name: &str, rtype: &str) -> Result<(Name, Rtype), Problem> {
        let owner = Name::parse(name).map_err(|_| self.odd("name", name))?;
        Ok((owner, rtype.parse().map_err(|_| self.odd("type of records", rtype))?))
    }

    /// Reads the changes of an update.
    fn changes(&self, text: &str) -> Result<Vec<KeptChange>, Problem> {
        serde_json::from_str(text).map_err(|_| self.odd("list of changes", text))
    }

    /// Reads a marker.
    fn marker(&self, text: &str) -> Result<Marker, Problem> {
        Marker::parse(text).ok_or_else(|| self.odd("marker", text))
    }
}

impl<R: SqlRead + ?Sized> SqlRows for R {}
