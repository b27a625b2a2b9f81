import { explainSignature, type SignatureReport } from '@lapel/schemas/base/explain-signature';
import { useSignal } from '@preact/signals';
import { now } from '../base/clock.ts';
import {
  a,
  button,
  code,
  div,
  form,
  h3,
  input,
  label,
  li,
  p,
  pre,
  span,
  textarea,
  ul,
  use,
  type VNode,
} from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { addressOf, ROOT } from '../base/place.ts';
import { typed } from '../base/typed.ts';
import { VERIFICATION } from '../base/verification.ts';
import { copy } from '../parts/copy.ts';
import { textField } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { badge, card } from '../parts/show.ts';

/** The body of the form: a file, byte by byte, or a pasted text. Browsers change the line ends of pasted texts. */
async function bodyOf(data: FormData): Promise<Uint8Array<ArrayBuffer>> {
  const file = data.get('file');
  if (file instanceof File && file.size > 0) return new Uint8Array(await file.arrayBuffer());
  const text = data.get('body');
  return new Uint8Array(await new Blob([typeof text === 'string' ? text.replaceAll('\r\n', '\n') : '']).arrayBuffer());
}

const shown = ({ isGenuine, findings }: SignatureReport): VNode =>
  div(
    { class: 'stack tight', role: 'status' },
    p(
      null,
      isGenuine ? badge('good', 'genuine') : badge('bad', 'refused'),
      isGenuine ? ' The webhook is signed with this key, and not too old.' : ' A receiver must refuse this webhook.',
    ),
    ul(
      { class: 'stack tight', 'aria-label': 'Findings' },
      findings.map(({ part, isFault, text }) =>
        li(
          { key: `${part} ${text}` },
          badge(isFault ? 'bad' : 'good', isFault ? 'wrong' : 'right'),
          ' ',
          code(null, part),
          ' ',
          span({ class: 'wrap' }, visible(text)),
        ),
      ),
    ),
  );

function Tool() {
  const report = useSignal<SignatureReport | null>(null);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const headers = data.get('headers');
    report.value = await explainSignature({
      headers: typeof headers === 'string' ? headers : '',
      body: await bodyOf(data),
      authenticationKey: typed(data, 'key') ?? '',
      nowMs: now.peek(),
    });
  };
  // Browsers compute signatures on safe connections only.
  if (!isSecureContext)
    return p(
      { class: 'soft' },
      'The browser computes signatures only on pages with TLS. The command line does the same: ',
      code(null, 'lapel webhook verify --headers headers.txt --body body.json'),
    );
  return form(
    { class: 'stack', autoComplete: 'off', onSubmit: (event) => void submit(event) },
    label(
      { class: 'field' },
      span(null, 'Headers'),
      textarea({
        name: 'headers',
        rows: 4,
        required: true,
        spellcheck: false,
        placeholder: 'webhook-id: msg_...\nwebhook-timestamp: 1795167000\nwebhook-signature: v1,...',
      }),
      span({ class: 'hint' }, 'As your receiver got them, one on each line.'),
    ),
    label(
      { class: 'field' },
      span(null, 'Body'),
      textarea({ name: 'body', rows: 6, spellcheck: false, placeholder: '{"type":"test",...}' }),
      span({ class: 'hint' }, 'The raw body, before anything parsed it.'),
    ),
    label(
      { class: 'field' },
      span(null, 'or a file with the body, byte by byte'),
      input({ type: 'file', name: 'file' }),
    ),
    textField(
      {
        name: 'key',
        label: 'authenticationKey',
        required: true,
        hint: 'It begins with whsec_. Nothing leaves the browser.',
      },
      { type: 'password', autoComplete: 'off' },
    ),
    button({ type: 'submit', class: 'main' }, 'Check the signature'),
    report.value === null ? null : shown(report.value),
  );
}

const examples = (): VNode =>
  div(
    { class: 'stack' },
    VERIFICATION.map(([language, text]) =>
      div(
        { class: 'stack tight', key: language },
        div({ class: 'row spread' }, h3(null, language), copy(text)),
        pre({ class: 'json', tabIndex: 0, 'aria-label': language }, text),
      ),
    ),
    p(
      { class: 'quiet small' },
      a({ href: `${ROOT}/docs/verify-webhooks`, target: '_blank' }, 'Guide: verify webhooks'),
    ),
  );

const Signature = () => [
  head({
    title: 'Signature',
    trail: [[addressOf(['webhooks']), 'Webhooks']],
    about: 'Why does a receiver refuse a webhook? Paste what it got.',
  }),
  div(
    { class: 'columns' },
    card({ title: 'Check a webhook' }, use(Tool, {})),
    card({ title: 'Code for your receiver' }, examples()),
  ),
];

/** The tool that says which part of a webhook differs from what the service signed. */
export const signaturePage = (): VNode => use(Signature, {});
