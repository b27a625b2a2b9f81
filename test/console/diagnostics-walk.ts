import type { Test } from 'tap';
import { type Tenant, transactionIdOf, type World } from '../world.ts';
import type { Watched } from './browser.ts';

interface Walk {
  tenant: Tenant;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

type Device = Awaited<ReturnType<World['activatedDevice']>>;

/** A device uploads diagnostics, and its transaction shows the files as its result names them. */
export async function uploadedFiles(t: Test, { tenant, watched }: Walk, device: Device): Promise<void> {
  const { url } = tenant.receiver;
  await tenant.api.patch(tenant.path, { json: { fileUploadGetUrl: url, fileUploadEvent: url } });
  const asked = await tenant.api.post(`${device.path}/diagnostics`, { json: { kinds: ['logs'], note: 'why' } });
  const transactionId = transactionIdOf(asked);
  device.link.puback((await device.link.command()).packet);
  const file = { kind: 'logs', fileId: 'f', name: '<b>log</b>.txt', size: 12_345, sha256: 'ab'.repeat(32) };
  await device.link.ack({ transactionId, status: 'succeeded', result: { files: [file] } });
  await tenant.receiver.next();
  await watched.visit(`/console/transactions/${transactionId}`);
  const files = watched.page.getByRole('table', { name: 'Files in the store of the customer' });
  const row = await files.getByRole('row').nth(1).textContent();
  for (const text of [file.name, file.kind, '12,345', file.sha256]) t.match(row, text);
}
