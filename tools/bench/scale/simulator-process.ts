// The fleet of the simulator in a process of its own: it connects at a rate, loses all its connections at once, and connects
// again as fast as it can. Prints one JSON line and stays connected. Arguments: file of accounts (JSON), MQTT URL, rate.
import { readFileSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import { type DeviceAccount, oneGroup } from '@lapel/device-sim/fleet/member';

const [, , file = '', url = '', rate = ''] = process.argv;
const accounts = JSON.parse(readFileSync(file, 'utf8')) as DeviceAccount[];
const bytes = process.memoryUsage().rss;
const fleet = createFleet({ members: oneGroup(accounts), url, connectAttempts: 5 });

async function connect(perSecond: number | null): Promise<{ seconds: number; cpuSeconds: number; kibEach: number }> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const [failure] = await fleet.connect({ rate: perSecond });
  if (failure) throw failure.error;
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - began) / 1000;
  await rest(2000);
  const kibEach = (process.memoryUsage().rss - bytes) / accounts.length / 1024;
  return { seconds, cpuSeconds: (user + system) / 1e6, kibEach };
}

const first = await connect(Number(rate));
await fleet.away({ how: 'cut' });
await rest(1000);
const storm = await connect(null);
process.stdout.write(`${JSON.stringify({ first, storm, losses: fleet.counts().losses })}\n`);
