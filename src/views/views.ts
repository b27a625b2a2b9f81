import type { Database } from '../platform/database/sql.ts';
import { createFleet } from './devices.ts';
import { createInstallations } from './installations.ts';
import { createOverview } from './transactions.ts';

type Parts = Omit<Parameters<typeof createFleet>[0], 'database'> &
  Omit<Parameters<typeof createOverview>[0], 'database'> &
  Omit<Parameters<typeof createInstallations>[0], 'database'> & {
    database: Pick<Database, 'read'>;
    /** What looks through a whole fleet asks here. */
    aside: Database['aside'];
  };

/** What looks through the devices, transactions and installations of a whole fleet. */
export function createFleetViews({ database, aside, ...parts }: Parts) {
  const from = { database: { read: database.read, aside } };
  return {
    fleet: createFleet({ ...parts, ...from }),
    overview: createOverview({ ...parts, ...from }),
    installations: createInstallations({ ...parts, ...from }),
  };
}
