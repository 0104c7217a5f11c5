//! Upgrades older formats of the file, step by step, each in one transaction.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::schema::{APPLICATION_ID, FORMAT, failed};
use crate::store::StoreError;

/// The upgrade from a format to the next: the SQL that is run in one transaction.
struct Step {
    from: i32,
    sql: &'static str,
}

/// No steps yet: format 1 is the first. The test has an example.
const STEPS: [Step; 0] = [];

/// Upgrades a file; returns the format before.
pub(super) fn upgrade(path: &Path) -> Result<i32, StoreError> {
    follow(path, &STEPS, FORMAT)
}

fn follow(path: &Path, steps: &[Step], known: i32) -> Result<i32, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)
        .map_err(|error| StoreError::unusable(path, error))?;
    let number = |connection: &Connection, name| -> Result<i32, StoreError> {
        let value = connection.pragma_query_value(None, name, |row| row.get(0));
        value.map_err(failed)
    };
    if number(&connection, "application_id")? != APPLICATION_ID {
        return Err(StoreError::NotALedger {
            path: path.to_owned(),
            reason: "it is a SQLite file of something else",
        });
    }
    let before = number(&connection, "user_version")?;
    loop {
        // The format is read again inside the transaction: another process may upgrade too.
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let found = number(&transaction, "user_version")?;
        if found == known {
            return Ok(before);
        }
        let step = steps.iter().find(|step| step.from == found);
        let Some(step) = step.filter(|step| step.from < known) else {
            return Err(StoreError::Format { found, known });
        };
        let run = || -> rusqlite::Result<()> {
            transaction.execute_batch(step.sql)?;
            transaction.pragma_update(None, "user_version", found + 1)
        };
        run().map_err(failed)?;
        transaction.commit().map_err(|error| StoreError::Unknown {
            reason: error.to_string(),
        })?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_followed_in_turn_and_whole() {
        let name = format!("mizan-upgrade-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("ledger");
        let shell = Connection::open(&path).unwrap();
        shell
            .pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        shell.execute_batch("CREATE TABLE old (x)").unwrap();
        let step = |from, sql| Step { from, sql };
        let good = [
            step(1, "ALTER TABLE new ADD COLUMN y"),
            step(0, "ALTER TABLE old RENAME TO new"),
        ];
        let bad = [
            step(0, "ALTER TABLE old RENAME TO new"),
            step(1, "ALTER TABLE new ADD COLUMN y; SELECT nonsense"),
        ];
        assert_eq!(follow(&path, &[], 1).unwrap_err().code(), "MZ1762");
        assert_eq!(follow(&path, &bad, 2).unwrap_err().code(), "MZ1760");
        let columns = "SELECT count(*) FROM pragma_table_info('new')";
        let count = || shell.query_row(columns, [], |row| row.get::<_, i64>(0));
        assert_eq!(
            count(),
            Ok(1),
            "the first step whole, the second not at all"
        );
        assert_eq!(follow(&path, &good, 2), Ok(1));
        assert_eq!(count(), Ok(2));
        assert_eq!(follow(&path, &good, 2), Ok(2));
        assert_eq!(follow(&path, &good, 1).unwrap_err().code(), "MZ1762");
        drop(shell);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
