import { makeChunk, pool, u16, u32 } from './make-apk.ts';

/** A text, a number, or a raw Res_value. */
type MadeValue = string | number | { type: number; data: number };

interface MadeType {
  /** The values by the number of their entry. */
  entries: Readonly<Record<number, MadeValue>>;
  /** Whether they are for some devices only. */
  qualified?: boolean;
  /** How the entries are found, and written. */
  layout?: 'plain' | 'sparse' | 'short' | 'compact';
}

const NO_ENTRY = 0xffffffff;
const FLAGS = { plain: 0, sparse: 1, short: 2, compact: 0 };

/** The table of resources of an APK (`resources.arsc`), made after ResourceTypes.h; the types have the numbers from 1. */
export function makeResources(types: readonly MadeType[], packageId = 0x7f): Buffer {
  const all = types.flatMap(({ entries }) => Object.values(entries));
  const texts = all.filter((value) => typeof value === 'string');
  const rawOf = (value: MadeValue): { type: number; data: number } => {
    if (typeof value === 'string') return { type: 3, data: texts.indexOf(value) };
    return typeof value === 'number' ? { type: 0x10, data: value } : value;
  };
  const typeChunk = ({ entries, qualified = false, layout = 'plain' }: MadeType, index: number): Buffer => {
    const numbers = Object.keys(entries).map(Number);
    const size = layout === 'compact' ? 8 : 16;
    const rows = numbers.map((number) => {
      const { type, data } = rawOf(entries[number]!);
      if (layout === 'compact') return Buffer.concat([u16(0, 8 | (type << 8)), u32(data)]);
      return Buffer.concat([u16(8, 0), u32(0), u16(8), Buffer.from([0, type]), u32(data)]);
    });
    const count = Math.max(...numbers) + 1;
    const places = Array.from({ length: count }, (_, number) => numbers.indexOf(number) * size);
    const offsets =
      layout === 'sparse'
        ? Buffer.concat(numbers.map((number, at) => u16(number, (at * size) / 4)))
        : layout === 'short'
          ? u16(...places.map((place) => (place < 0 ? 0xffff : place / 4)), ...(count % 2 === 1 ? [0] : []))
          : u32(...places.map((place) => (place < 0 ? NO_ENTRY : place)));
    const configuration = Buffer.alloc(60);
    if (qualified) configuration.write('de', 4);
    const head = [
      Buffer.from([index + 1, FLAGS[layout], 0, 0]),
      u32(layout === 'sparse' ? numbers.length : count, 84 + offsets.length, 64),
      configuration,
    ];
    return makeChunk(0x0201, Buffer.concat(head), Buffer.concat([offsets, ...rows]));
  };
  // Chunks of one type with several configurations follow one another, so the qualified ones count for the type behind them.
  let index = -1;
  const chunks = types.map((type, at) => {
    if (at === 0 || !types[at - 1]!.qualified) index += 1;
    return typeChunk(type, index);
  });
  const packageHead = Buffer.concat([u32(packageId), Buffer.alloc(256), u32(0, 0, 0, 0, 0)]);
  const body = Buffer.concat([pool(texts, true), makeChunk(0x0200, packageHead, Buffer.concat(chunks))]);
  return makeChunk(2, u32(1), body);
}
