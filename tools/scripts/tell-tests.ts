// Prints, before the tests begin, on which databases they run, and why tests will be skipped.

import { missing } from '../../test/installed.ts';
import { findPostgres } from '../harness/postgres-server.ts';

const usual = process.env['LAPEL_TEST_DATABASE'] === 'postgres' ? 'PostgreSQL' : 'SQLite';
const server = findPostgres();
const others = server === undefined ? '' : `; those of PostgreSQL and of several nodes on that of ${server}`;
process.stdout.write(`Tests run on ${usual}${others}.\n`);

const reasons = Object.values(missing)
  .map((reason) => reason())
  .filter((reason) => reason !== false);
if (reasons.length > 0)
  process.stdout.write(`Some tests are skipped:\n${reasons.map((reason) => `- ${reason}\n`).join('')}`);
