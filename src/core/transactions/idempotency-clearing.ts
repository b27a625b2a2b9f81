import { type Clearing, leavingApplications, pagesBy } from '../applications/clearing.ts';

interface Key {
  applicationId: string;
  hash: Buffer;
}

/** Removes the answers that are kept for repeated requests of a customer. */
export const idempotencyClearing = (): Clearing<Key> => ({
  kind: 'idempotencyKeys',
  async *find(sql, leaver) {
    for await (const applicationId of leavingApplications(sql, leaver))
      yield* pagesBy(
        Buffer.alloc(0),
        (row) => row.hash,
        (after, limit) =>
          sql.all<Key>(
            `SELECT application_id AS "applicationId", key_hash AS hash FROM idempotency_keys
           WHERE application_id = ? AND key_hash > ? ORDER BY key_hash LIMIT ?`,
            applicationId,
            after,
            limit,
          ),
      );
  },
  remove: async (unit, { applicationId, hash }) => ({
    idempotencyKeys: await unit.run(
      'DELETE FROM idempotency_keys WHERE application_id = ? AND key_hash = ?',
      applicationId,
      hash,
    ),
  }),
});
