import { Marked, type Token, type Tokens } from 'marked';
import { type Html, html } from '../../html.ts';
import { anchorOf } from '../../names.ts';

/** A heading of a document, for the contents of its page and for the search. */
export interface Heading {
  depth: number;
  text: string;
  anchor: string;
}

interface Read {
  title: string;
  headings: readonly Heading[];
  content: Html;
}

interface Parts {
  /** The link on the site for a link of the document; null when its target is not on the site. */
  linkTo(link: string): string | null;
}

/** The text of tokens without their marks. */
export function plainText(tokens: readonly Token[] | undefined): string {
  return (tokens ?? [])
    .map((token) => {
      if (token.type === 'html') return '';
      const { tokens: inner, text } = token as Tokens.Generic;
      return inner ? plainText(inner) : unescaped(String(text ?? ''));
    })
    .join('');
}

// The parser gives the text of some tokens with entities.
const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
const unescaped = (text: string): string => text.replace(/&(lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity]!);

const ANCHOR = /^<a id="([\w-]+)">(<\/a>)?$/;

/**
 * The only HTML of the documents: an anchor (`<a id="login"></a>`), and comments, which mark generated parts. Everything
 * else is shown as text.
 */
function ownHtml(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '</a>' || /^<!--[^>]*-->$/.test(trimmed)) return '';
  const [, id] = ANCHOR.exec(trimmed) ?? [];
  return id === undefined ? html`${text}`.html : html`<a id="${id}"></a>`.html;
}

const parser = new Marked();

/** The tokens of a document. */
export const tokensOf = (text: string) => parser.lexer(text);

/** Makes the HTML of a document in Markdown. */
export function readMarkdown(text: string, { linkTo }: Parts): Read {
  const tokens = tokensOf(text);
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading(token) {
        const plain = plainText(token.tokens);
        const anchor = anchorOf(plain);
        headings.push({ depth: token.depth, text: plain, anchor });
        const inner = { html: this.parser.parseInline(token.tokens) };
        const level = { html: `h${token.depth}` };
        return token.depth === 1
          ? html`<h1>${inner}</h1>\n`.html
          : html`<${level} id="${anchor}"><a href="#${anchor}">${inner}</a></${level}>\n`.html;
      },
      link(token) {
        const inner = { html: this.parser.parseInline(token.tokens) };
        const target = linkTo(token.href);
        return target === null ? inner.html : html`<a href="${target}">${inner}</a>`.html;
      },
      code({ text: code, lang }) {
        return html`<pre tabindex="0"${lang ? html` data-language="${lang}"` : null}><code>${code}</code></pre>\n`.html;
      },
      codespan({ text: code }) {
        return html`<code>${code}</code>`.html;
      },
      table(token) {
        const cell = (tag: 'th' | 'td') => (one: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`;
        const head = token.header.map(cell('th')).join('');
        const rows = token.rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>\n`).join('');
        return `<div class="scroll" tabindex="0"><table><thead><tr>${head}</tr></thead>\n<tbody>${rows}</tbody></table></div>\n`;
      },
      html: ({ text: given }) => ownHtml(given),
      image: ({ text: alternative }) => html`${alternative}`.html,
    },
  });
  const content = marked.parser(tokens);
  return { title: headings.find(({ depth }) => depth === 1)?.text ?? '', headings, content: { html: content } };
}
