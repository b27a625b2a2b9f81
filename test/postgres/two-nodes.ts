import { setTimeout as pause } from 'node:timers/promises';
import { startObjectStore } from '@lapel/tools/harness/object-store';
import { Client } from 'pg';
import type { Test } from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { S3_CREDENTIALS, useS3Credentials } from '../s3-credentials.ts';
import { startWorld } from '../world.ts';
import { createDatabase } from './databases.ts';

/** Two nodes of a cluster in this process, and a third connection to their database. All of it ends with the test. */
export async function startTwoNodes(t: Test) {
  const url = await createDatabase(t);
  const clock = createFakeClock();
  const folder = t.testdir({ a: {}, b: {}, objects: {} });
  const store = await startObjectStore(`${folder}/objects`, clock, S3_CREDENTIALS);
  t.teardown(() => store[Symbol.asyncDispose]());
  useS3Credentials();
  const env = {
    ...store.env,
    LAPEL_DATABASE_URL: url,
    LAPEL_ADMIN_TOKEN: 'an-administrator-token-of-both-nodes',
    LAPEL_PUBLIC_URL: 'https://lapel.example',
  };
  const a = await startWorld(t, { clock, env, dataDir: `${folder}/a` });
  const b = await startWorld(t, { clock, env, dataDir: `${folder}/b` });

  const own = new Client({ connectionString: url });
  await own.connect();
  t.teardown(() => own.end());

  /** Resolves when so many connections wait for a lock, or when the awaited work has ended. */
  async function waiting(count: number, orElse: Promise<unknown>): Promise<void> {
    let over = false;
    const end = (): void => {
      over = true;
    };
    void orElse.then(end, end);
    for (;;) {
      const { rows } = await own.query('SELECT count(DISTINCT pid)::int AS n FROM pg_locks WHERE NOT granted');
      if (over || rows[0].n >= count) return;
      await pause(2);
    }
  }

  return {
    a,
    b,
    url,
    query: async (text: string, ...values: unknown[]) => (await own.query(text, values)).rows,

    /**
     * Lets two calls meet. While a table is locked against writes (or the rows of a SELECT are locked), the first call
     * runs until it must wait, then the second one; then both continue.
     */
    async meet<One, Other>(held: string, one: () => Promise<One>, other: () => Promise<Other>): Promise<[One, Other]> {
      await own.query(`BEGIN; ${held.startsWith('SELECT') ? held : `LOCK TABLE ${held} IN SHARE MODE`}`);
      const first = one();
      await waiting(1, first);
      const second = other();
      await waiting(2, second);
      await own.query('COMMIT');
      return Promise.all([first, second]);
    },
  };
}
