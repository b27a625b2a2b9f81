import { splitVersion } from '@lapel/schemas/base/package-version';
import type { DeviceRow } from '@lapel/schemas/contracts/types';
import type { Fleet, FleetDevice } from '../../views/devices.ts';
import type { Installations } from '../../views/installations.ts';
import { transactionRow } from '../../views/transaction-row.ts';
import type { Overview } from '../../views/transactions.ts';
import type { FeedSources } from './feed-reader.ts';

/** Rows that a snapshot has of each list of transactions: as many as the first page of the list. */
const FIRST = 50;

interface Parts extends Pick<FeedSources, 'hasOthers' | 'fleet' | 'receivers' | 'audit' | 'rollouts'> {
  fleetDevices: Pick<Fleet, 'find'>;
  deviceRow(device: FleetDevice): DeviceRow;
  overview: Pick<Overview, 'list' | 'some'>;
  installations: Pick<Installations, 'counts'>;
}

/** Reads the rows of the feed in the same way as the lists of the API, so that both show the same. */
export function createFeedSources(parts: Parts): FeedSources {
  const { fleetDevices, deviceRow, overview, installations, hasOthers, fleet, receivers, audit, rollouts } = parts;
  return {
    hasOthers,
    fleet,
    receivers,
    audit,
    rollouts,
    devices: async (deviceIds) => (await fleetDevices.find(deviceIds)).map(deviceRow),
    transactions: async (transactionIds) =>
      (await overview.some(transactionIds)).map(({ record, warning }) => transactionRow(record, warning)),
    async firstTransactions(applicationId) {
      const filter = { ...(applicationId !== undefined && { applicationId }), warning: false, limit: FIRST };
      const pages = [
        await overview.list({ ...filter, unfinished: true }),
        await overview.list({ ...filter, unfinished: false }),
      ];
      const rows = pages.flatMap((page) => page.rows);
      return [...new Map(rows.map((row) => [row.record.transactionId, row])).values()].map(({ record, warning }) =>
        transactionRow(record, warning),
      );
    },
    async software(name, applicationId) {
      const line = name.startsWith('firmware/') ? 'firmware' : 'software';
      const { package: packageName, version } = splitVersion(name.slice(line === 'firmware' ? 'firmware/'.length : 0));
      const [counts] = await installations.counts({ line, package: packageName }, [version], applicationId);
      if (!counts) return undefined;
      const { installed, waiting, failed } = counts;
      return { installed, waiting, failed };
    },
  };
}
