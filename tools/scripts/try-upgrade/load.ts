import { setTimeout as pause } from 'node:timers/promises';
import type { SimulatedFleet } from '@lapel/device-sim/library/public.d';
import { ALL_SCOPES } from '../../../test/world.ts';

const WIFI = [{ ssid: 'office', password: 'correct horse', security: 'WPA2' }];
/** Milliseconds between two calls, and callers at a time. */
const BETWEEN_MS = 25;
const PATIENCE_MS = 10_000;

async function tokenOf(api: string, { applicationId, secret }: { applicationId: string; secret: string }) {
  const answer = await fetch(`${api}/api/v1/authenticate`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: ALL_SCOPES }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** Calls that change and read devices, one after another without a second attempt, until `end`. */
export async function startLoad(fleet: SimulatedFleet, api: string) {
  const application = fleet.application;
  if (!application) throw new Error('the fleet has no application');
  const token = await tokenOf(api, application);
  const base = `${api}/v1/applications/${application.applicationId}`;
  const failures: string[] = [];
  const transactions: number[] = [];
  const started = performance.now();
  let calls = 0;
  let slowestMs = 0;
  let ended = false;

  async function call(method: string, path: string, body?: unknown): Promise<void> {
    const began = performance.now();
    const named = `${((began - started) / 1000).toFixed(1)} s ${method} ${path}`;
    calls += 1;
    try {
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const text = await answer.text();
      if (!answer.ok) failures.push(`${named}: ${answer.status} ${text.slice(0, 200)}`);
      else if (method === 'PUT') transactions.push((JSON.parse(text) as { transactionId: number }).transactionId);
    } catch (error) {
      const { message, cause } = error as Error;
      failures.push(`${named}: ${message} ${String((cause as { code?: string } | undefined)?.code ?? '')}`);
    }
    slowestMs = Math.max(slowestMs, performance.now() - began);
  }

  const open = new Set<Promise<void>>();
  const loop = (async () => {
    for (let turn = 0; !ended; turn += 1) {
      const { deviceId } = fleet.devices[turn % fleet.devices.length] as { deviceId: string };
      const made =
        turn % 3 === 2
          ? call('GET', `/devices/${deviceId}/status`)
          : call('PUT', `/devices/${deviceId}/settings/wifi`, WIFI);
      open.add(made);
      void made.finally(() => open.delete(made));
      await pause(BETWEEN_MS);
    }
  })();
  return {
    failures,
    transactions,
    /** Since the start of the load. */
    seconds: () => ((performance.now() - started) / 1000).toFixed(1),
    calls: () => calls,
    slowestMs: () => slowestMs,
    async end(): Promise<void> {
      ended = true;
      await loop;
      await Promise.all(open);
    },
  };
}
