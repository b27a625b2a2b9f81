// Prints, before the tests begin, on which databases they run.
import { findPostgres } from '../harness/postgres-server.ts';

const usual = process.env['LAPEL_TEST_DATABASE'] ?? 'sqlite';
const programs = findPostgres();
const postgres =
  programs === undefined
    ? 'PostgreSQL is not installed: its tests, and those of several nodes, are left out'
    : `those of PostgreSQL and of several nodes on that of ${programs}`;
process.stdout.write(`Tests run on ${usual === 'postgres' ? 'PostgreSQL' : 'SQLite'}; ${postgres}.\n`);
