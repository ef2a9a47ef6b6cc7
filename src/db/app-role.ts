// The role that the program connects to the embedded PostgreSQL as. It owns the database and everything in it, and has
// no rights on the server itself: an attacker who can run SQL reads no file, runs no program and reads no password.
//
// The superuser that initdb creates cannot be demoted, so it stays, for this set-up alone. Databases of earlier
// versions, and restored dumps, belong to the superuser: everything that does is reassigned, in one transaction with
// the role.
import { createHmac } from 'node:crypto'
import pg from 'pg'
import { LOCKS } from './locks.ts'

export const APP_ROLE = 'offerdeck_app'

const LOCK_TIMEOUT_MS = 2_000 // a process of an earlier version may still use its tables: it is not held up for long

/** Derived from the superuser's, so that there is one secret to keep, and this one does not reveal that one. */
export const appRolePassword = (superuserPassword: string) =>
  createHmac('sha256', superuserPassword).update(APP_ROLE).digest('base64url')

/** Brings the role and what it owns into order. `client` is the superuser's, in our database. Changes nothing that is right. */
export async function setUpAppRole(client: pg.Client, superuserPassword: string): Promise<void> {
  await client.query('BEGIN')
  try {
    // Two processes that find the role missing take turns.
    await client.query(`SELECT pg_advisory_xact_lock(${LOCKS.appRole})`)
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [APP_ROLE])
    if (rowCount === 0) {
      await client.query(`CREATE ROLE ${APP_ROLE}`)
      await client.query(COPY_SETTINGS)
    }
    await client.query(
      `ALTER ROLE ${APP_ROLE} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS
        PASSWORD ${pg.escapeLiteral(appRolePassword(superuserPassword))}`,
    )
    await client.query('SET LOCAL statement_timeout = 0')
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    await client.query(HAND_OVER)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {}) // the connection may be what failed
    throw error
  }
}

/** What an operator set for connections of earlier versions, which were the superuser's. */
const COPY_SETTINGS = `DO $$
DECLARE name text;
BEGIN
  FOR name IN
    SELECT split_part(setting, '=', 1) FROM pg_db_role_setting, unnest(setconfig) AS setting
    WHERE setrole = current_user::regrole AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
  LOOP
    EXECUTE format('ALTER ROLE ${APP_ROLE} IN DATABASE %I SET %s FROM CURRENT', current_database(), name);
  END LOOP;
END $$`

/**
 * Everything of ours that the superuser owns, but for what belongs to an extension or follows its table: indexes, row types,
 * a column's sequence. The schema "public" follows the owner of the database. Partitions do not follow their table.
 */
const HAND_OVER = `DO $$
DECLARE change text;
BEGIN
  FOR change IN
    WITH ours AS (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
    attached AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'e'
      OR deptype IN ('a', 'i') AND classid = 'pg_class'::regclass AND refclassid = classid AND refobjsubid > 0)
    SELECT format('ALTER DATABASE %I', datname) FROM pg_database
    WHERE datname = current_database() AND datdba = current_user::regrole
    UNION ALL
    SELECT format('ALTER SCHEMA %I', nspname) FROM pg_namespace
    WHERE oid IN (TABLE ours) AND nspowner = current_user::regrole AND (tableoid, oid) NOT IN (TABLE attached)
    UNION ALL
    SELECT format('ALTER TABLE %s', oid::regclass) FROM pg_class
    WHERE relnamespace IN (TABLE ours) AND relowner = current_user::regrole AND (tableoid, oid) NOT IN (TABLE attached)
      AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    UNION ALL
    SELECT format('ALTER TYPE %s', oid::regtype) FROM pg_type
    WHERE typnamespace IN (TABLE ours) AND typowner = current_user::regrole AND (tableoid, oid) NOT IN (TABLE attached)
      AND (typtype IN ('d', 'e', 'r') OR typrelid IN (SELECT oid FROM pg_class WHERE relkind = 'c'))
    UNION ALL
    SELECT format('ALTER ROUTINE %s', oid::regprocedure) FROM pg_proc
    WHERE pronamespace IN (TABLE ours) AND proowner = current_user::regrole AND (tableoid, oid) NOT IN (TABLE attached)
  LOOP
    EXECUTE change || ' OWNER TO ${APP_ROLE}';
  END LOOP;
END $$`
