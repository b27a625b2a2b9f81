import { BUDGET, tokensOf } from './tokens.ts';

/** The tokens that the last line, with the cursor of the next page, may take. */
const FOR_CURSOR = 160;

/** Where the next page begins: the cursor of the list, and the rows of this page that were shown already. */
export interface Place {
  after?: string;
  skip?: number;
}

export type Report = ReturnType<typeof createReport>;

/**
 * Gathers the lines of an answer up to its budget. The facts that every reader needs come first: `say` writes lines which are cut
 * only if the budget is used up, `row` says whether a row still had room.
 */
export function createReport(budget = BUDGET - FOR_CURSOR) {
  const lines: string[] = [];
  let used = 0;
  let isCut = false;
  let more: string | undefined;

  function add(line: string): boolean {
    const tokens = tokensOf(line) + 1;
    if (isCut || used + tokens > budget) {
      isCut = true;
      return false;
    }
    used += tokens;
    lines.push(line);
    return true;
  }

  return {
    /** Adds lines; empty and missing ones are left out. */
    say(...given: (string | false | null | undefined)[]): void {
      for (const line of given) if (line) add(line);
    },
    row: add,
    /** Names the place of the next page. */
    more(place: Place): void {
      more ??= cursorOf(place);
    },
    text(): string {
      const end: string[] = [];
      if (more !== undefined) end.push(`more: cursor=${more}`);
      else if (isCut) end.push('(cut at the budget of this answer: ask a narrower question)');
      return [...lines, ...end].join('\n');
    },
  };
}

export const cursorOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url');

/** Reads a cursor; undefined for one that this service cannot have made. */
export function readCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return {};
  try {
    const { after, skip } = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Record<string, unknown>;
    const place: Place = {};
    if (typeof after === 'string') place.after = after;
    if (Number.isSafeInteger(skip)) place.skip = skip as number;
    return place;
  } catch {
    return undefined;
  }
}
