import t from 'tap';
import { missing } from '../installed.ts';
import { runClass } from './java.ts';

/** `LAPEL_SEEDS=100 npm test -- test/device-java/simulated-power-cuts.test.ts` plays more of them. */
const SEEDS = Number(process.env['LAPEL_SEEDS'] ?? 2);

t.test(
  'power cuts and a disk that fails at any write break no promise of the device in Java',
  { skip: missing.java() },
  async (t) => {
    t.setTimeout(60_000 + 60_000 * SEEDS);
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { cuts, commands, events } = JSON.parse(await runClass('Torture', [String(seed)]));
      t.ok(cuts > 10 && commands > 50 && events > 50, `seed ${seed}: ${cuts} power cuts, ${commands} commands`);
    }
  },
);
