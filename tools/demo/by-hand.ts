import { join, relative } from 'node:path';
import { commandOf, isInstalled, ROOT_FOLDER } from '@lapel/schemas/base/installation';
import type { Camera } from './cameras.ts';
import { APKS } from './software.ts';
import { APPLICATION, DEVELOPER } from './tenant.ts';

interface Address {
  http: string;
  admin: string;
}

/** A file of this program, as commands name it that are called in the folder of the checkout, or anywhere. */
const shown = (file: string): string => (isInstalled ? `'${file}'` : relative(ROOT_FOLDER, file));

/**
 * Shell commands for the reader, to be pasted in this order after the tour, each with its purpose. `next` is the
 * transactionId that the next command will get.
 */
export function commandsByHand({
  addresses: { http, admin },
  token,
  adminToken,
  secret,
  cameras,
  next,
}: {
  addresses: Address;
  token: string;
  adminToken: string;
  secret: string;
  cameras: readonly Camera[];
  next: number;
}): { what: string; command: string }[] {
  const device = (number: number): string => `$APP/devices/${cameras[number - 1]?.device.deviceId}`;
  const put = `curl -sS -X PUT -H "$AUTH" -H 'Content-Type: application/json' -w '\\n'`;
  return [
    {
      what: 'First: the URL of the application, and its access token (valid for an hour)',
      command: `APP=${http}/v1/applications/${APPLICATION}\nAUTH='Authorization: Bearer ${token}'`,
    },
    { what: 'The settings of the application', command: `curl -sS -H "$AUTH" -w '\\n' $APP` },
    {
      what: 'Wi-Fi for camera 1: the answer names the transaction; the result comes as a webhook, which is shown here',
      command: `${put} -d '[{"ssid":"studio","security":"WPA2","password":"correct horse battery"}]' ${device(1)}/settings/wifi`,
    },
    {
      what: 'The record of that transaction (its number is right if you run the commands in order)',
      command: `curl -sS -H "$AUTH" -w '\\n' ${device(1)}/transactions/${next}`,
    },
    {
      what: 'The status of camera 1',
      command: `curl -sS -H "$AUTH" -w '\\n' ${device(1)}/status`,
    },
    {
      what: 'Camera 2 has an old firmware that never answers an APN change ...',
      command: `${put} -d '[{"name":"Demo","apn":"demo.example"}]' ${device(2)}/settings/apn`,
    },
    {
      what: '... its transactions show that the command was delivered, and stays without an answer ...',
      command: `curl -sS -H "$AUTH" -w '\\n' "${device(2)}/transactions?operation=setApn&limit=10"`,
    },
    {
      what: '... until the transaction is cancelled (204)',
      command: `curl -sS -X DELETE -H "$AUTH" -w '%{http_code}\\n' ${device(2)}/transactions/${next + 1}`,
    },
    {
      what: `Software with the command line${isInstalled ? '' : ' (in this folder of Lapel)'}: the available versions ...`,
      command: `export LAPEL_APPLICATION_SECRET=${secret}\n${commandOf('lapel')} app list --application ${APPLICATION} --url ${http}`,
    },
    {
      what: '... and an upgrade of cameras 4 and 5: camera 5 installs it, camera 4 refuses (--help shows more)',
      command: `${commandOf('lapel')} app upload ${shown(join(APKS, 'camera-1.1.0.apk'))} --application ${APPLICATION} --url ${http} --install ${cameras[3]?.device.deviceId} ${cameras[4]?.device.deviceId}`,
    },
    {
      what: 'Administration: the devices of the developer',
      command: `curl -sS -H 'Authorization: Bearer ${adminToken}' -w '\\n' ${admin}/admin/v1/developers/${DEVELOPER}/devices`,
    },
    { what: 'Metrics', command: `curl -sS ${admin}/metrics | grep '^lapel_transactions'` },
    {
      what: 'A new access token, when the hour is over',
      command: `curl -sS -u ${APPLICATION}:${secret} -w '\\n' -d grant_type=client_credentials --data-urlencode 'scope=svc:application:read svc:device:read svc:device:write' ${http}/api/v1/authenticate`,
    },
  ];
}
