import type { Test } from 'tap';
import type { Tenant, World } from '../world.ts';
import type { Watched } from './browser.ts';
import { HOSTILE } from './hostile-fleet.ts';

interface Walk {
  world: World;
  tenant: Tenant;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

/** Somebody writes a note on a device, sees who wrote it, and deletes it. A note of the application is beside it. */
export async function notesOfDevice(t: Test, { world, tenant, watched }: Walk): Promise<void> {
  const { page } = watched;
  const [{ deviceId }] = (await tenant.api.get(`${tenant.path}/devices?limit=1`)).body.devices;
  const textsOf = async (): Promise<string[]> =>
    (await world.admin().get(`/admin/v1/devices/${deviceId}/notes`)).body.notes.map(
      ({ text }: { text: string }) => text,
    );
  const before = await textsOf();
  const own = { text: 'written by the application' };
  const { noteId } = (await tenant.api.post(`${tenant.path}/devices/${deviceId}/notes`, { json: own })).body;
  await watched.visit(`/console/devices/${deviceId}`);
  const card = page.getByRole('region', { name: 'Notes' });
  await card.locator('.device-note', { hasText: own.text }).getByText(tenant.applicationId).waitFor();
  await card.getByRole('button', { name: 'New note' }).click();
  const dialog = page.getByRole('dialog');
  const text = `screen broken\nsent to ${HOSTILE.script}`;
  await dialog.getByLabel('Note').fill(text);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const mine = card.locator('.device-note', { hasText: 'screen broken' });
  await mine.getByText('The administrator token').waitFor();
  t.same(await textsOf(), [text, own.text, ...before]);
  await mine.getByRole('button', { name: 'Delete the note of The administrator token' }).click();
  await dialog.getByText(HOSTILE.script).waitFor();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await mine.waitFor({ state: 'detached' });
  t.same(await textsOf(), [own.text, ...before]);
  await tenant.api.delete(`${tenant.path}/devices/${deviceId}/notes/${noteId}`);
}
