/** The style sheets, in their order: later ones override earlier ones, and `narrow` must override all. */
export const SHEETS = [
  'colours',
  'base',
  'frame',
  'cards',
  'tables',
  'forms',
  'messages',
  'plots',
  'rollouts',
  'tags',
  'notes',
  'sign-in',
  'narrow',
] as const;
