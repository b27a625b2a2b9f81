import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeviceId } from '../fleet/device-ids.ts';
import type { DeviceAccount } from '../fleet/member.ts';
import { UsageError } from '../usage-error.ts';

/** Reads `{deviceId, credential}` lines. Throws a UsageError that names the line. */
export function readAccounts(file: string, limit?: number): DeviceAccount[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError('--devices', `cannot read ${file}: ${(error as Error).message}`);
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new UsageError('--devices', `${file} contains no devices`);
  return lines.slice(0, limit).map((line, index) => {
    try {
      const { deviceId, credential } = JSON.parse(line) as Record<string, unknown>;
      if (typeof deviceId === 'string' && isDeviceId(deviceId) && typeof credential === 'string') {
        return { deviceId, credential };
      }
    } catch {
      // A line that is not JSON is reported by the check below, like a line without these members.
    }
    throw new UsageError('--devices', `line ${index + 1} of ${file} is not {"deviceId", "credential"}`);
  });
}

/** Only the owner may read the file, because credentials are secrets. */
export function saveAccounts(file: string, accounts: readonly DeviceAccount[]): void {
  const lines = accounts.map(({ deviceId, credential }) => `${JSON.stringify({ deviceId, credential })}\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
}

/** The administrator token, from the data folder of the service. */
export function readToken(dataDir: string): string {
  const file = join(dataDir, 'admin-token');
  try {
    return readFileSync(file, 'utf8').trim().split(/\r?\n/, 1)[0] ?? '';
  } catch {
    throw new UsageError('--data-dir', `there is no ${file}; start the service, or give --admin-token or --devices`);
  }
}

/** Where the devices of a run come from: a file, or registration through the administration API. */
export type AccountSource =
  | { kind: 'file'; file: string; limit: number | undefined }
  | {
      kind: 'register';
      adminUrl: string;
      token: string | { dataDir: string };
      developerId: string;
      /** The code of the batch by which the devices enrol, instead of being registered. */
      code: string | undefined;
      /** Whether these devices send a certification request, and get a certificate. */
      csr: boolean;
    };
