import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceIdFor, isDeviceId } from '../fleet/device-ids.ts';
import type { DeviceAccount } from '../fleet/member.ts';
import { UsageError } from '../usage-error.ts';
import { createServiceClient, inParallel, type ServiceClient, unexpected } from './service-client.ts';

const PARALLEL_REQUESTS = 16;

const mac = (first: string, index: number): string =>
  [first, '00', '00', ...(index + 0x1000000).toString(16).slice(-6).match(/../g)!].join(':').toUpperCase();

/** Op 9: what a developer console would have entered for such a camera. */
const hardwareProperties = (index: number): object => ({
  model: {
    name: 'Simulated camera',
    identifier: 'SIM-1',
    description: 'A simulated wearable camera',
    shape: 'neckband',
  },
  camera: [{ direction: 'front', mountedPosition: 'chest', resolution: { maxWidth: 3840, maxHeight: 2160 } }],
  macAddressWifi: mac('02', index),
  macAddressBluetooth: mac('06', index),
});

async function ensureDeveloper(admin: ServiceClient, developerId: string, deviceLimit: number): Promise<void> {
  const found = await admin('GET', `/admin/v1/developers/${encodeURIComponent(developerId)}`);
  if (found.status === 200) return;
  if (found.status === 401) throw unexpected('the administrator token is not accepted', found);
  const created = await admin('POST', '/admin/v1/developers', { developerId, name: 'Simulated fleet', deviceLimit });
  // 409: another simulator was faster.
  if (created.status !== 201 && created.status !== 409)
    throw unexpected(`cannot create developer ${developerId}`, created);
}

/** Registers a device, or gives the one that an earlier run registered a new credential. */
async function ensureDevice(
  admin: ServiceClient,
  developerId: string,
  deviceId: string,
  index: number,
): Promise<DeviceAccount> {
  const made = await admin('POST', `/admin/v1/developers/${encodeURIComponent(developerId)}/devices`, {
    deviceId,
    hardwareProperties: hardwareProperties(index),
  });
  const reply = made.status === 409 ? await admin('POST', `/admin/v1/devices/${deviceId}/credential`, {}) : made;
  if (reply.status !== 201) throw unexpected(`cannot register device ${deviceId}`, reply);
  return { deviceId, credential: String(reply.body['credential']) };
}

/**
 * Makes sure that devices 0 to `count` - 1 of the seed are registered for a developer, which is created when missing
 * (with a contract for them), through the administration API (contract, section 5).
 */
export async function registerAccounts({
  adminUrl,
  token,
  developerId,
  seed,
  count,
}: {
  adminUrl: string;
  token: string;
  developerId: string;
  seed: number;
  count: number;
}): Promise<DeviceAccount[]> {
  const admin = createServiceClient({ baseUrl: adminUrl, token });
  await ensureDeveloper(admin, developerId, Math.max(count, 1000));
  const deviceIds = Array.from({ length: count }, (_, index) => deviceIdFor(seed, index));
  return inParallel(deviceIds, PARALLEL_REQUESTS, (deviceId, index) =>
    ensureDevice(admin, developerId, deviceId, index),
  );
}

/** Reads `{deviceId, credential}` lines. Throws a UsageError that names the line. */
export function readAccounts(file: string, limit?: number): DeviceAccount[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError('--devices', `cannot read ${file}: ${(error as Error).message}`);
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new UsageError('--devices', `${file} names no device`);
  return lines.slice(0, limit).map((line, index) => {
    try {
      const { deviceId, credential } = JSON.parse(line) as Record<string, unknown>;
      if (typeof deviceId === 'string' && isDeviceId(deviceId) && typeof credential === 'string') {
        return { deviceId, credential };
      }
    } catch {
      // Reported below, like a line with the wrong content.
    }
    throw new UsageError('--devices', `line ${index + 1} of ${file} is no {"deviceId", "credential"}`);
  });
}

/** Credentials are secrets: for the owner's eyes only. */
export function saveAccounts(file: string, accounts: readonly DeviceAccount[]): void {
  const lines = accounts.map(({ deviceId, credential }) => `${JSON.stringify({ deviceId, credential })}\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
}

function readToken(dataDir: string): string {
  const file = join(dataDir, 'admin-token');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new UsageError('--data-dir', `there is no ${file}; start the service, or give --admin-token or --devices`);
  }
}

/** Where devices come from. */
export type AccountSource =
  | { kind: 'file'; file: string; limit: number | undefined }
  | { kind: 'register'; adminUrl: string; token: string | { dataDir: string }; developerId: string };

/** The devices that a run asks for. */
export async function obtainAccounts({
  accounts,
  seed,
  count,
}: {
  accounts: AccountSource;
  seed: number;
  count: number;
}): Promise<DeviceAccount[]> {
  if (accounts.kind === 'file') return readAccounts(accounts.file, accounts.limit);
  const { adminUrl, developerId, token } = accounts;
  const secret = typeof token === 'string' ? token : readToken(token.dataDir);
  return registerAccounts({ adminUrl, token: secret, developerId, seed, count });
}
