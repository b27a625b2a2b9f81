import type { Test } from 'tap';
import { type Tenant, transactionIdOf, type World } from '../world.ts';
import type { Watched } from './browser.ts';

interface Walk {
  world: World;
  tenant: Tenant;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

const LARGE = '12345678901234567890';

/** Results, webhooks and statuses are shown with the numbers that the device has sent. */
export async function numbersStay(t: Test, { world, tenant, watched }: Walk): Promise<void> {
  const { page } = watched;
  const { deviceId, link, path } = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.get(`${path}/connectivity/state?type=bluetooth`));
  link.puback((await link.command()).packet);
  const result = `{"type":"bluetooth","enabled":true,"large":-${LARGE},"one":1.0,"id":${LARGE}}`;
  link.publish('acks', `{"transactionId":${transactionId},"status":"succeeded","result":${result}}`);
  await link.next('puback');
  link.publish(
    'status',
    `{"network":{"type":"wifi","ssid":"office","rssi":-${LARGE}},"storage":{"total":${LARGE},"free":1e9}}`,
  );
  await link.next('puback');
  await watched.visit(`/console/transactions/${transactionId}`);
  await page.getByText('"large"').waitFor();
  const shown = await page.locator('pre.json').filter({ hasText: '"large"' }).innerText();
  for (const line of [`"large": -${LARGE},`, '"one": 1.0,', `"id": ${LARGE}\n`]) t.match(shown, line);
  await page.locator('a[href*="/console/webhooks/"]').last().click();
  await page.getByText('"webhookId"').or(page.getByText('"transactionId"')).first().waitFor();
  t.match(await page.locator('pre.json').filter({ hasText: '"large"' }).first().innerText(), `"id": ${LARGE}\n`);
  await watched.visit(`/console/devices/${deviceId}`);
  await page.getByText(/wifi, office/).waitFor();
  t.match(await page.getByText(/wifi, office/).innerText(), `-${LARGE} dBm`);
  await page.getByText(/^954 MiB of .* free/).waitFor();
}
