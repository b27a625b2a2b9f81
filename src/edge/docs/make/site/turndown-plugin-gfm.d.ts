declare module '@joplin/turndown-plugin-gfm' {
  import type { Plugin } from 'turndown';
  /** Writes tables as GitHub's Markdown has them. */
  export const tables: Plugin;
}
