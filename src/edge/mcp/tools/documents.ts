import { ERRORS } from '@lapel/schemas/contracts/errors';
import type { Documents } from '../documents.ts';
import { data } from '../foreign.ts';
import { Unanswered } from '../session.ts';
import { CURSOR, TEXT, type Tool, tool } from '../tool.ts';
import { DEVICE_ERRORS } from './device-errors.ts';

interface Parts {
  documents: Documents;
  /** The address of the site of the documents. */
  docsUrl(): string;
}

/** The characters of a section that a search shows, and of a piece of a document. */
const SHOWN = 700;
const PIECE = 4_800;

const STATUSES: Readonly<Record<number, string>> = {
  400: 'Correct the request; repeating it changes nothing.',
  401: 'Get a new token, and repeat the request once.',
  403: 'The token lacks a right, or a rule forbids the call.',
  404: 'Correct the identifier; repeating it changes nothing.',
  409: 'The present state forbids the call.',
  412: 'Read the object again, and send the change with its new ETag.',
  429: 'Wait for the seconds of Retry-After, then repeat.',
  500: 'Repeat with the same Idempotency-Key; tell the operator if it stays.',
  503: 'Repeat with the same Idempotency-Key, with longer and longer pauses.',
};

export function documentTools({ documents, docsUrl }: Parts): Tool[] {
  const place = (page: string, anchor: string): string =>
    `${docsUrl()}${page === '' ? '' : `/${page}`}${anchor === '' ? '' : `#${anchor}`}`;

  const explainError = tool<{ code: string }>({
    name: 'explain_error',
    title: 'Explain an error',
    description:
      'Explain an error code of the API, of a command or of a device (such as STORAGE_FULL, NO_ANSWER, RATE_LIMITED): what does this error mean, when does it come, and what to do.',
    properties: { code: TEXT('The error code.', 64) },
    required: ['code'],
    async run(_, { code }, report) {
      const name = code.trim().toUpperCase();
      const row = Object.hasOwn(ERRORS, name) ? ERRORS[name as keyof typeof ERRORS] : undefined;
      if (row) {
        report.say(`${name}: status ${row.status}, "${row.text}"`, `When: ${row.when}.`, STATUSES[row.status] ?? false);
      }
      const ofDevice = Object.hasOwn(DEVICE_ERRORS, name) ? DEVICE_ERRORS[name] : undefined;
      if (ofDevice !== undefined) report.say(`${name} as the end of a command: ${ofDevice}`);
      if (!row && ofDevice === undefined) {
        report.say(
          `${data(code, 64)} is no error of the service. Devices may choose codes of their own: ask their maker.`,
        );
      }
      report.say(`Documents: ${place('errors', row ? name : 'errors-of-devices')}`);
    },
  });

  const searchDocuments = tool<{ question: string }>({
    name: 'search_documents',
    title: 'Search the documents',
    description:
      'Search the documents, guides and reference for a question or for words: how does something work, what is the limit, how do I set, verify, sign, back up, restore or configure it? Answers the sections that fit best.',
    properties: { question: TEXT('The question, or its words.', 400) },
    required: ['question'],
    async run(_, { question }, report) {
      const found = await documents.search(question, 6);
      if (found.length === 0) throw new Unanswered('No section has these words. Ask with other words.');
      for (const { page, anchor, title, text } of found) {
        const cut = text.length > SHOWN ? ' ...' : '';
        report.say(
          `## ${title} (page=${page || 'index'}, section=${anchor}) ${place(page, anchor)}\n${text.slice(0, SHOWN).toWellFormed()}${cut}`,
        );
      }
    },
  });

  const readDocument = tool<{ page?: string; section?: string; cursor?: string }>({
    name: 'read_document',
    title: 'Show a document',
    description:
      'Show a page of the documents, or one section of it, piece by piece. Without page: the list of all pages; with page alone: its sections.',
    properties: {
      page: TEXT('The name of the page.', 64),
      section: TEXT('The section, as the list or the search names it.', 200),
      cursor: CURSOR,
    },
    async run(session, { page, section, cursor }, report) {
      if (page === undefined) {
        report.say(`Pages: ${(await documents.pages()).map((name) => name || 'index').join(', ')}`);
        return;
      }
      const sections = await documents.of(page === 'index' ? '' : page);
      if (sections.length === 0)
        throw new Unanswered('There is no such page. Without arguments, read_document lists them.');
      if (section === undefined) {
        report.say(`Sections of ${page} (${place(page, '')}):`);
        for (const { anchor, title, text } of sections)
          report.row(`- ${anchor || '(beginning)'}: ${title}, ${text.length} characters`);
        return;
      }
      const found = sections.find(({ anchor }) => anchor === section);
      if (!found) throw new Unanswered('The page has no such section. With page alone, read_document lists them.');
      const begin = session.placeOf(cursor).skip ?? 0;
      const piece = found.text.slice(begin, begin + PIECE).toWellFormed();
      const fits = report.row(`## ${found.title} ${place(page, section)}\n${piece}`);
      const shown = fits ? PIECE : PIECE / 2;
      if (!fits) report.row(piece.slice(0, shown));
      if (found.text.length > begin + shown) report.more({ skip: begin + shown });
    },
  });

  return [explainError, searchDocuments, readDocument];
}
