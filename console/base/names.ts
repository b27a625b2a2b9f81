import { type Signal, signal } from '@preact/signals';
import { operation, read, readPage } from './requests.ts';
import { session } from './session.ts';

/** Objects that people know by a name, and programs by an identifier. */
export type NamedKind = 'applications' | 'developers';

/** The most names that are read at once; those that are not among them are read one by one. */
const AT_ONCE = 1000;
/** Milliseconds for which a name serves before it is read again. */
const FRESH = 60_000;

interface Names {
  readAt: number;
  known: Map<string, Signal<string | undefined>>;
  wanted: Set<string>;
}
const none = (): Names => ({ readAt: Number.NEGATIVE_INFINITY, known: new Map(), wanted: new Set() });
let names: Record<NamedKind, Names> = { applications: none(), developers: none() };
/** Whose session the names were read in: another person may not see them. */
let readBy: unknown;

interface Row {
  applicationId?: string;
  developerId?: string;
  name: string;
}
const identifierOf = (kind: NamedKind, row: Row): string =>
  (kind === 'applications' ? row.applicationId : row.developerId) ?? '';

async function readAll(kind: NamedKind): Promise<readonly Row[]> {
  const list = kind === 'applications' ? operation('listAllApplications') : operation('listDevelopers');
  return (await readPage<Row>(list, kind, { query: { limit: AT_ONCE } })).rows;
}
const readOne = (kind: NamedKind, identifier: string): Promise<Row> =>
  read<Row>(
    kind === 'applications'
      ? operation('readApplication', { applicationId: identifier })
      : operation('readDeveloper', { developerId: identifier }),
  );

/**
 * Reads the names that pages want. One that cannot be read stays unknown: the identifier is shown. Nothing is read when the
 * session has ended meanwhile.
 */
async function look(kind: NamedKind, of: Names): Promise<void> {
  const asked = [...of.wanted];
  of.wanted.clear();
  if (!session.peek()) return;
  if (performance.now() - of.readAt > FRESH) {
    of.readAt = performance.now();
    try {
      for (const row of await readAll(kind)) nameIn(of, identifierOf(kind, row)).value = row.name;
    } catch {
      of.readAt = Number.NEGATIVE_INFINITY; // read again with the next name
    }
  }
  for (const identifier of asked.filter((one) => nameIn(of, one).peek() === undefined)) {
    if (!session.peek()) return;
    const row = await readOne(kind, identifier).catch(() => undefined); // it may have been deleted
    if (row) nameIn(of, identifier).value = row.name;
  }
}

function nameIn(of: Names, identifier: string): Signal<string | undefined> {
  const found = of.known.get(identifier) ?? signal<string | undefined>(undefined);
  of.known.set(identifier, found);
  return found;
}

/** The name of an application or a developer; undefined until it is known. It is read together with others. */
export function knownName(kind: NamedKind, identifier: string): Signal<string | undefined> {
  if (readBy !== session.peek()?.person?.personId) {
    readBy = session.peek()?.person?.personId;
    names = { applications: none(), developers: none() };
  }
  const of = names[kind];
  const found = nameIn(of, identifier);
  if (of.wanted.size === 0) setTimeout(() => void look(kind, of));
  of.wanted.add(identifier);
  return found;
}
