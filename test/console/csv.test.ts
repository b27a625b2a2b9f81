import { csvOf } from '@lapel/console/base/csv';
import { csvPieces } from '@lapel/console/base/csv-pages';
import t from 'tap';

t.test('a CSV file quotes what needs it, and no spreadsheet carries out a text of others', async (t) => {
  t.equal(
    csvOf(
      ['line', 'error'],
      [
        [1, 'a, "b"\nc'],
        [2, '=HYPERLINK("http://evil")'],
        [-3, '@SUM(1)'],
        [4, undefined],
        [5, '\t=1+1'],
        [6, '\r+1'],
        [7, '\n=1'],
        [8, '＝1+1'],
        [9, '＠SUM(1)'],
      ],
    ),
    'line,error\r\n1,"a, ""b""\nc"\r\n2,"\'=HYPERLINK(""http://evil"")"\r\n-3,\'@SUM(1)\r\n4,\r\n5,\'\t=1+1\r\n6,"\'\r+1"\r\n7,"\'\n=1"\r\n8,\'＝1+1\r\n9,\'＠SUM(1)\r\n',
  );
});

interface Row {
  name: string;
  tags: object;
  battery: number | null;
  connected: boolean;
}

t.test('a long list becomes a file page by page', async (t) => {
  const pages: Record<string, { rows: Row[]; next: string | null }> = {
    '': { rows: [{ name: '+1', tags: { city: 'a,b' }, battery: -5, connected: true }], next: 'two' },
    two: { rows: [], next: 'three' },
    three: { rows: [{ name: 'x', tags: {}, battery: null, connected: false }], next: 'three' },
  };
  const asked: (string | undefined)[] = [];
  const list = {
    name: 'devices',
    columns: ['name', 'tags', 'battery', 'connected'] as const,
    async page(after: string | undefined) {
      asked.push(after);
      return pages[after ?? '']!;
    },
  };
  const { signal } = new AbortController();
  let text = '';
  const counts: number[] = [];
  for await (const piece of csvPieces<Row>(list, signal)) {
    text += piece.text;
    counts.push(piece.rows);
  }
  t.equal(text, `name,tags,battery,connected\r\n'+1,"{""city"":""a,b""}",-5,true\r\nx,{},,false\r\n`);
  t.same(counts, [0, 1, 1, 2]);
  t.same(asked, [undefined, 'two', 'three'], 'a cursor that does not move ends the list');
  const stop = AbortSignal.abort(new Error('stopped'));
  await t.rejects(
    async () => {
      for await (const _ of csvPieces<Row>(list, stop));
    },
    { message: 'stopped' },
  );
});
