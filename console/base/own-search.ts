import { operation, read, readPage } from './requests.ts';
import type { DeviceRow, FoundThing, TransactionRow } from './rows.ts';

const MOST = 20;
/** Packages whose names are looked through. */
const PACKAGES = 1000;

const found = (kind: FoundThing['kind'], id: string, parent: string | null = null): FoundThing => ({
  kind,
  id,
  parent,
});

async function devices(text: string, signal: AbortSignal): Promise<FoundThing[]> {
  if (!/^\d{1,15}$/.test(text)) return [];
  const query = { prefix: text, limit: MOST };
  const { rows } = await readPage<DeviceRow>(operation('listOwnDevices'), 'devices', { query, signal });
  return rows.map(({ deviceId }) => found('device', deviceId));
}

async function packages(text: string, signal: AbortSignal): Promise<FoundThing[]> {
  const query = { limit: PACKAGES };
  const { packages: all } = await read<{ packages: { package: string; displayName: string | null }[] }>(
    operation('listPackages'),
    { query, signal },
  );
  const wanted = text.toLowerCase();
  return all
    .filter((one) => [one.package, one.displayName ?? ''].some((name) => name.toLowerCase().includes(wanted)))
    .slice(0, MOST)
    .map((one) => found('package', one.package));
}

async function transactions(text: string, signal: AbortSignal): Promise<FoundThing[]> {
  const number = Number(text);
  if (!/^[1-9]\d{0,15}$/.test(text) || number >= Number.MAX_SAFE_INTEGER) return [];
  const query = { after: number + 1, limit: 1 }; // the newest transaction whose number is not greater
  const { rows } = await readPage<TransactionRow>(operation('listOwnTransactions'), 'transactions', { query, signal });
  return rows.filter(({ transactionId }) => transactionId === number).map(() => found('transaction', text));
}

/**
 * Finds objects of the application: devices by the beginning of the deviceId, transactions by their number, packages by
 * a part of their names. A deliveryId leads to the page of that delivery, which says whether there is one.
 */
export async function searchOwn(text: string, applicationId: string, signal: AbortSignal): Promise<FoundThing[]> {
  const [ofDevices, ofTransactions, ofPackages] = await Promise.all([
    devices(text, signal),
    transactions(text, signal),
    packages(text, signal),
  ]);
  return [
    ...ofDevices,
    ...ofTransactions,
    ...(/^msg_[0-9a-f]{32}$/.test(text) ? [found('delivery', text, applicationId)] : []),
    ...ofPackages,
  ].slice(0, MOST);
}
