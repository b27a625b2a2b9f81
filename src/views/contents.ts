import type { Leaver } from '../core/applications/clearing.ts';
import type { Quotas } from '../core/software/quotas.ts';
import type { Database } from '../platform/database/sql.ts';
import * as repository from './contents-repository.ts';

/** Devices that are asked for their connection together. */
const PER_PAGE = 2_000;

interface Parts {
  database: Pick<Database, 'aside'>;
  quotas: Pick<Quotas, 'usageOf'>;
  /** Returns those of the given devices that are connected to any node. */
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
}

/** The rows that belong to a developer or an application, and would be removed with it. */
export interface Contents {
  applications: number;
  /** Applications with an authenticationKey. */
  applicationsWithKey: number;
  /** The devices of the developer; of an application, those that are activated for it, which stay with the developer. */
  devices: number;
  connected: number;
  transactions: { unfinished: number; finished: number };
  deliveries: { pending: number; ended: number };
  rollouts: { unfinished: number; ended: number };
  idempotencyKeys: number;
  packages: number;
  versions: number;
  /** Bytes of binaries, with those that upload URLs were issued for. */
  storedBytes: number;
  /** Entries of the audit log, which stay. */
  auditEntries: number;
}

export type CountContents = ReturnType<typeof createContents>;

/** Counts what belongs to a developer, or to an application. All is read aside, in parts, and not at one moment. */
export function createContents({ database, quotas, connected }: Parts) {
  const sql = database.aside;

  async function countConnected(leaver: Leaver): Promise<number> {
    let count = 0;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: string[] = await repository.deviceIdsOf(sql, leaver, after, PER_PAGE);
      count += (await connected(page)).size;
      after = page.length < PER_PAGE ? undefined : page.at(-1);
    }
    return count;
  }

  async function countTransactions(leaver: Leaver): Promise<Contents['transactions']> {
    const sum = { unfinished: 0, finished: 0 };
    for (let after = 0; ; ) {
      const seen = await repository.countTransactions(sql, leaver, after);
      if (!seen) return sum;
      sum.unfinished += seen.unfinished;
      sum.finished += seen.all - seen.unfinished;
      after = seen.last;
    }
  }

  return async function countContents(leaver: Leaver): Promise<Contents> {
    const { applications, keys } = await repository.countApplications(sql, leaver);
    const deliveries = await repository.countDeliveries(sql, leaver);
    const rollouts = await repository.countRollouts(sql, leaver);
    const nothing = { packages: 0, versions: 0, storedBytes: 0 };
    return {
      applications,
      applicationsWithKey: keys,
      devices: await repository.countDevices(sql, leaver),
      connected: await countConnected(leaver),
      transactions: await countTransactions(leaver),
      deliveries: { pending: deliveries.pending, ended: deliveries.all - deliveries.pending },
      rollouts: { unfinished: rollouts.unfinished, ended: rollouts.all - rollouts.unfinished },
      idempotencyKeys: await repository.countIdempotencyKeys(sql, leaver),
      ...(leaver.applicationId === null ? await quotas.usageOf(leaver.developerId) : nothing),
      auditEntries: await repository.countAuditEntries(sql, leaver),
    };
  };
}
