import { runKills } from '../kills/kills.ts';
import type { Options } from '../measure.ts';
import type { Row, Table } from '../report.ts';
import { installPeers } from './install.ts';
import { runLoops } from './loops.ts';
import { PEERS, type PeerName } from './peer-target.ts';
import { killableTargets } from './targets.ts';

const NAMES = Object.keys(PEERS) as PeerName[];
/** The devices of the kills. */
const DEVICES = 64;

/** Reads a list of peers; an empty one means all of them. Throws when it names an unknown one. */
export function readPeers(list: string): PeerName[] {
  if (list === '') return NAMES;
  return list.split(',').map((name) => {
    const found = NAMES.find((one) => one === name);
    if (!found) throw new Error(`--peers knows ${NAMES.join(', ')}, not ${name}`);
    return found;
  });
}

/** Measures Lapel beside peers: loops unless `rounds` is 0, then so many kills of each part. */
export async function runPeers({
  peers,
  kills,
  ...options
}: Options & { peers: readonly PeerName[]; kills: number }): Promise<Table[]> {
  installPeers(peers.includes('restate') ? ['most', 'restate'] : ['most']);
  const tables = options.rounds > 0 ? await runLoops(options, peers) : [];
  if (kills === 0) return tables;
  const rows: Row[] = [];
  for (const [name, start] of Object.entries(killableTargets(peers)))
    rows.push(...(await runKills(name, (onTold) => start({ devices: DEVICES, onTold }), kills)));
  const about = `${kills} kills of each part with SIGKILL at random times under load; the part starts again at once. The figures count commands that were answered with 201.`;
  return [...tables, { name: 'Kills', about, rows }];
}
