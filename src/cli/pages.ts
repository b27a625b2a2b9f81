import type { Answer, HttpClient } from './http-client.ts';

const PAGE = 1000;

/** All rows of a list, page by page. */
export async function fetchAll(
  request: HttpClient,
  path: string,
  { what, list, query = {} }: { what: string; list: string; query?: Record<string, string | undefined> },
): Promise<{ rows: unknown[]; first: Answer['body'] }> {
  const rows: unknown[] = [];
  let first: Answer['body'];
  for (;;) {
    const { body } = await request('GET', path, { what, query: { ...query, offset: rows.length, limit: PAGE } });
    first ??= body;
    const page = body[list] as unknown[];
    rows.push(...page);
    if (page.length === 0 || rows.length >= Number(body.total)) return { rows, first };
  }
}
