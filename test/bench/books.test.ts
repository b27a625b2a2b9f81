import { createBooks } from '@lapel/tools/bench/kills/books';
import { between } from '@lapel/tools/bench/peers/document';
import t from 'tap';

/** Books of one command that was answered with 201 and that its device has carried out; the first one succeeds. */
function booksOfOne() {
  const books = createBooks();
  books.accepted('one');
  const said = books.carriedOut('one');
  return { books, said, tell: (webhookId: string, status: string) => books.told(webhook(webhookId, status)) };
}
const webhook = (webhookId: string, status: string) => ({ webhookId, transaction: { transactionId: 'one', status } });
const CLEAN = { accepted: 1, lost: 0, doubled: 0, wrong: 0, repeated: 0 };

t.test('a command that is told once as its device said it is no fault', async (t) => {
  const { books, said, tell } = booksOfOne();
  tell('event-1', said);
  t.same(books.tally(), CLEAN);
  t.equal(books.open(), 0);
});

t.test('a command without a webhook is lost', async (t) => {
  const { books } = booksOfOne();
  t.same(books.tally(), { ...CLEAN, lost: 1 });
  t.equal(books.open(), 1);
  t.equal(await books.untilTold('one', 1), false);
});

t.test('a command that was never answered with 201 is not lost', async (t) => {
  const books = createBooks();
  books.carriedOut('one');
  t.same(books.tally(), { ...CLEAN, accepted: 0 });
});

t.test('a webhook that is sent again has the same id, and doubles nothing', async (t) => {
  const { books, said, tell } = booksOfOne();
  tell('event-1', said);
  tell('event-1', said);
  t.same(books.tally(), CLEAN);
});

t.test('two webhooks with different ids for one command are a double', async (t) => {
  const { books, said, tell } = booksOfOne();
  tell('event-1', said);
  tell('event-2', said);
  t.same(books.tally(), { ...CLEAN, doubled: 1 });
});

t.test('another result than that of the device is told wrongly, also after the right one', async (t) => {
  const { books, said, tell } = booksOfOne();
  tell('event-1', said);
  tell('event-1', said === 'succeeded' ? 'failed' : 'succeeded');
  t.same(books.tally(), { ...CLEAN, wrong: 1 });
});

t.test('a result of a command that no device has got is told wrongly', async (t) => {
  const books = createBooks();
  books.accepted('one');
  books.told(webhook('event-1', 'succeeded'));
  t.same(books.tally(), { ...CLEAN, wrong: 1 });
});

t.test('a device that gets a command again answers the same, and the repetition is counted', async (t) => {
  const { books, said, tell } = booksOfOne();
  t.not(books.carriedOut('two'), said, 'half of the commands fail');
  t.equal(books.carriedOut('one'), said);
  tell('event-1', said);
  t.same(books.tally(), { ...CLEAN, repeated: 1 });
});

t.test('who waits for a command is woken by its webhook', async (t) => {
  const { books, said, tell } = booksOfOne();
  const waiting = books.untilTold('one', 60_000);
  tell('event-1', said);
  t.equal(await waiting, true);
  t.equal(await books.untilTold('one', 60_000), true, 'at once when it has come before');
});

t.test('a table takes the place of what is between its marks', async (t) => {
  const page = 'a\n<!-- x -->\n\nold\n\n<!-- /x -->\nb';
  t.equal(between(page, 'x', 'new'), 'a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb');
  t.throws(() => between(page, 'y', 'new'), { message: 'the page has no <!-- y --> ... <!-- /y -->' });
});
