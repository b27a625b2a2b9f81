import t from 'tap';
import { csvOf } from '../../console/base/csv.ts';

t.test('a CSV file quotes what needs it, and no spreadsheet carries out a text of others', async (t) => {
  t.equal(
    csvOf(
      ['line', 'error'],
      [
        [1, 'a, "b"\nc'],
        [2, '=HYPERLINK("http://evil")'],
        [-3, '@SUM(1)'],
        [4, undefined],
      ],
    ),
    'line,error\r\n1,"a, ""b""\nc"\r\n2,"\'=HYPERLINK(""http://evil"")"\r\n-3,\'@SUM(1)\r\n4,\r\n',
  );
});
