/** The tables, as numbered migrations: a file is brought up to date when it is opened. */

import type { Driver } from './driver.js'

/**
 * What brings a file from each schema to the next.
 *
 * Words used here:
 * - account: one (tenant, owner); its integer key is in every index that a caller's lookup uses
 * - place: where a task stands in its account's list: time of its status, then id
 * - rev: number of the commit; raised once per commit, so that a walk can tell what was there when it began
 * - tail: the events after the snapshot
 * - job: a task that anybody may claim
 */
export const migrations: readonly string[] = [
  `
  create table account(key integer primary key, tenant text not null, owner text not null);
  create unique index account_name on account(tenant, owner);

  create table task(
    key integer primary key, account integer not null, id text not null, context_id text not null,
    state integer not null, status_ts integer not null, status_seq integer not null, status_rev integer not null, created_rev integer not null,
    last_seq integer not null, epoch integer not null, holder text, attempt integer not null, turn integer not null, waiting text,
    inbox_seq integer not null, tail_bytes integer not null, snapshot_seq integer not null, snapshot_bytes integer not null);
  create unique index task_id on task(account, id);
  create index task_place on task(account, status_ts, id);
  create index task_context on task(account, context_id, status_ts, id);
  create index task_state on task(account, state, status_ts, id);
  -- Most tasks begin and end in one commit: they have not moved since they were made and are not in here.
  create index task_moved on task(account, status_rev) where status_rev > created_rev;
  create index task_unfinished on task(key) where state < 2;

  -- The key is task << 30 | seq: one narrow tree that grows at its end. With (task, seq) as the key of a table without rowid
  -- the bodies sit in the inner pages as well, and a commit writes seven pages more.
  create table task_event(
    key integer primary key, epoch integer not null, kind integer not null, ts integer, rev integer, previous integer, body text not null);
  -- Apart from the header, which is rewritten with every append.
  create table snapshot(task integer primary key, seq integer not null, body text not null);
  create table task_count(account integer not null, state integer not null, n integer not null, primary key(account, state)) without rowid;

  create table context(account integer not null, id text not null, memory text not null, primary key(account, id)) without rowid;
  create table push_config(key integer primary key, task integer not null, id text not null, body text not null);
  create unique index push_config_id on push_config(task, id);
  create index push_config_order on push_config(task);

  create table inbound_0(
    account integer not null, message integer not null, content blob not null, task integer not null, seq integer not null, at integer not null,
    primary key(account, message, content)) without rowid;
  create table inbound_1(
    account integer not null, message integer not null, content blob not null, task integer not null, seq integer not null, at integer not null,
    primary key(account, message, content)) without rowid;

  create table number(name text primary key, value integer not null) without rowid;
  create table secret(name text primary key, bytes blob not null) without rowid;
  `,
  `
  -- n is null as long as the record is open.
  create table run_record(
    task integer not null, turn integer not null, key text not null, kind text not null, n integer, body text not null,
    primary key(task, turn, key)) without rowid;
  -- The key grows: first come, first served.
  create table job(key integer primary key, task integer not null unique);

  alter table task add column due_at integer;
  alter table task add column sealed integer not null default 0;
  create index task_due on task(due_at) where due_at is not null;

  -- It was the id of the question. A task that asked without words waits as well.
  update task set waiting = json_object('kind', 'turn', 'question', waiting) where waiting is not null;
  update task set waiting = json_object('kind', 'turn') where waiting is null and holder is null and state in (2, 3);
  insert into job(task) select key from task where state < 4 and holder is null and waiting is null order by key;

  -- The id first, so that it can also be found whoever's it is.
  drop index task_id;
  create unique index task_id on task(id, account);
  drop index task_unfinished;
  create index task_unfinished on task(key) where state < 4;
  `,
  `
  -- Nothing was posted to those that are there, and their secrets stand open: whoever wants to be told says so again.
  drop table push_config;
  create table push_config(
    key integer primary key, task integer not null, id text not null, body text not null,
    ref integer not null, after_seq integer not null, opens integer not null, until_seq integer,
    attempts integer not null, due integer, drops integer not null, state integer not null, deliveries integer not null);
  create unique index push_config_id on push_config(task, id);
  create index push_config_order on push_config(task);
  create unique index push_config_ref on push_config(ref);
  create index push_config_open on push_config(ref) where state < 2;
  create table push_delivery(
    config integer not null, n integer not null, seq integer not null, attempt integer not null, at integer not null,
    outcome integer not null, status integer, failure integer, primary key(config, n)) without rowid;
  `,
]

/** In the header of every file of ours: "ERND" in ASCII. */
const applicationId = 0x45524e44

/**
 * Looks before anything is changed whether `file` is a store or empty.
 *
 * @throws {Error} when it is the database of another program, or none at all
 */
export function checkFile(driver: Driver, file: string): void {
  let id: number
  let tables: number
  try {
    id = Number(driver.prepare('pragma application_id').get()?.['application_id'])
    tables = Number(driver.prepare('select count(*) as n from sqlite_master').get()?.['n'])
  } catch (cause) {
    throw new Error(`${file} cannot be opened: it is no SQLite database, or cannot be read. Use another file`, { cause })
  }
  if (id === applicationId || (id === 0 && tables === 0)) return
  throw new Error(`${file} is the database of another program. Use another file`)
}

/**
 * Makes or updates the tables of `file`.
 *
 * @throws {Error} when the file was written by a newer version of this program
 */
export function migrate(driver: Driver, file: string, known: readonly string[] = migrations): void {
  driver.exec(`pragma application_id = ${applicationId}; create table if not exists migration(number integer primary key)`)
  const done = Number(driver.prepare('select coalesce(max(number), 0) as number from migration').get()?.['number'])
  if (done > known.length) {
    throw new Error(
      `${file} has schema ${done}, this version of Errand knows ${known.length}: open it with a newer Errand, or use another file`,
    )
  }
  for (const [index, sql] of known.entries()) {
    const number = index + 1
    if (number <= done) continue
    driver.exec('begin immediate')
    try {
      // First of all: its primary key is what stops anything from running twice.
      driver.prepare('insert into migration values (?)').run(number)
      driver.exec(sql)
      driver.exec('commit')
    } catch (cause) {
      driver.exec('rollback')
      throw new Error(`${file} could not be brought to schema ${number}`, { cause })
    }
  }
}
