import { setImmediate } from 'node:timers/promises';
import { spread } from '../../runtime/spread.ts';

/** Devices that are hashed, and heaps that are sorted, before others get a turn. */
const PER_TURN = 2_000;
const HEAPS = 256;
const HEAPS_PER_TURN = 16;

/**
 * Puts devices into an order of chance, which `salt` decides, so that the first stage of a rollout is like the others. A
 * hundred thousand would take the event loop a fifth of a second, so others get turns in between.
 */
export async function shuffled(deviceIds: readonly string[], salt: string): Promise<string[]> {
  const heaps = Array.from({ length: HEAPS }, (): { deviceId: string; place: number }[] => []);
  for (const [index, deviceId] of deviceIds.entries()) {
    const place = spread(`${salt}/${deviceId}`);
    heaps[Math.floor(place * HEAPS)]?.push({ deviceId, place });
    if (index % PER_TURN === PER_TURN - 1) await setImmediate();
  }
  const order: string[] = [];
  for (const [index, heap] of heaps.entries()) {
    for (const { deviceId } of heap.toSorted((one, other) => one.place - other.place)) order.push(deviceId);
    if (index % HEAPS_PER_TURN === HEAPS_PER_TURN - 1) await setImmediate();
  }
  return order;
}
