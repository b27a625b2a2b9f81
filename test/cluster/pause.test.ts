import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { ADMIN_TOKEN } from '../flow/service-process.ts';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { openRawDevice, type RawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { deviceIdOf } from '../world.ts';
import { startNodesTarget } from './nodes-target.ts';

const DEVICES = 20;

for (const milliseconds of [2_500, 4_000])
  t.test(
    `devices stay at a node that stood still for ${milliseconds} ms, unless they went elsewhere`,
    { skip },
    async (t) => {
      const target = await startNodesTarget(t, { nodes: 2 });
      async function call(path: string, body: object): Promise<Record<string, string>> {
        const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
        const url = `http://127.0.0.1:${target.admin}/admin/v1/developers${path}`;
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
        t.equal(answer.status, 201);
        return (await answer.json()) as Record<string, string>;
      }
      await call('', { developerId: 'dev', name: 'dev' });
      const connect = async (deviceId: string, credential: string, node: number): Promise<RawDevice> => {
        const link = await openRawDevice({ url: target.mqttOf(node), deviceId, credential, connect: { clean: false } });
        t.match(await link.login(), { returnCode: 0 });
        return link;
      };
      const known: { deviceId: string; credential: string }[] = [];
      for (let number = 1; number <= DEVICES; number += 1) {
        const deviceId = deviceIdOf(number);
        known.push({ deviceId, credential: (await call('/dev/devices', { deviceId }))['credential'] ?? '' });
      }
      const links = await Promise.all(known.map(({ deviceId, credential }) => connect(deviceId, credential, 0)));
      const closed = new Set<number>();
      for (const [index, link] of links.entries()) link.socket.once('close', () => closed.add(index));
      const [mover] = known as [(typeof known)[0]];
      const former = await target.query<{ id: string }>(`SELECT node_id AS id FROM device_owners`);

      target.freeze(0, true);
      const moved = await connect(mover.deviceId, mover.credential, 1);
      await pause(milliseconds);
      target.freeze(0, false);
      await until(() => closed.has(0));
      const owners = () =>
        target.query<{ id: string; live: boolean }>(
          `SELECT node_id AS id, node_id IN (SELECT node_id FROM nodes WHERE lease_until > clock_timestamp()) AS live
         FROM device_owners`,
        );
      await until(async () => (await owners()).every(({ live }) => live));
      for (const link of links.slice(1)) link.send({ cmd: 'pingreq' });
      await Promise.all(links.slice(1).map((link) => link.next('pingresp')));
      t.same([...closed], [0], 'only the device that went to the other node was cut off');
      const count = (await owners()).filter(({ id }) => id !== former[0]?.id).length;
      t.comment(`${count} devices have another node name than before`);
      for (const link of [...links, moved]) link.socket.destroy();
      await target.stop();
    },
  );
