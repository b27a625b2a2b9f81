import { type ImportDeclaration, type ModuleDeclaration, type Node, parse } from 'acorn';

/** A module as text, with the paths of the modules that it imports by the names that it gives them. */
interface Source {
  text: string;
  /** The path of the module that an import names. */
  pathOf(name: string): string;
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

const nameOf = (node: Node & { name?: unknown }): string => {
  if (node.type !== 'Identifier') throw new Error(`a ${node.type} where a module may only have a name`);
  return String(node.name);
};

/** Cuts and replaces parts of a text, in their order. */
function edited(text: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text: other } of edits) {
    result += text.slice(at, start) + other;
    at = end;
  }
  return result + text.slice(at);
}

/** The names that a declaration makes, which must be constant: importers get the values that they have at the end. */
function declared(declaration: Node): string[] {
  const node = declaration as Extract<ModuleDeclaration, { type: 'ExportNamedDeclaration' }>['declaration'];
  if (!node) return [];
  if (node.type !== 'VariableDeclaration') return [nameOf(node.id)];
  if (node.kind !== 'const') throw new Error(`a module exports a variable that can change: ${node.kind}`);
  return node.declarations.map(({ id }) => nameOf(id));
}

/** The line by which a module gets what it imports from the module `from`. */
function importLine({ specifiers }: ImportDeclaration, from: string): string {
  const lines = specifiers.map((one) => {
    if (one.type === 'ImportNamespaceSpecifier') return `const ${one.local.name} = ${from};`;
    const name = one.type === 'ImportDefaultSpecifier' ? 'default' : nameOf(one.imported);
    return `const { ${name}: ${one.local.name} } = ${from};`;
  });
  return lines.join(' ');
}

interface Rewritten {
  /** The lines that come first: all that is imported, because imports are there before the first statement. */
  imports: string[];
  body: string;
  /** The members of the object that importers get, as `name: value`. */
  exports: string[];
}

function rewrite(text: string, variableOf: (name: string) => string): Rewritten {
  const program = parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
  const edits: Edit[] = [];
  const imports: string[] = [];
  const exports: string[] = [];
  const cut = ({ start, end }: Node): void => void edits.push({ start, end, text: '' });
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') {
      imports.push(importLine(node, variableOf(String(node.source.value))));
      cut(node);
    } else if (node.type === 'ExportNamedDeclaration' && node.declaration) {
      exports.push(...declared(node.declaration));
      edits.push({ start: node.start, end: node.declaration.start, text: '' });
    } else if (node.type === 'ExportNamedDeclaration') {
      const from = node.source ? `${variableOf(String(node.source.value))}.` : '';
      for (const { local, exported } of node.specifiers) exports.push(`${nameOf(exported)}: ${from}${nameOf(local)}`);
      cut(node);
    } else if (node.type === 'ExportDefaultDeclaration' || node.type === 'ExportAllDeclaration') {
      throw new Error(`${node.type} is not joined`);
    }
  }
  return { imports, body: edited(text, edits), exports };
}

/**
 * Joins a module and all that it imports into one. Each becomes a function, which is called once, and they keep the order
 * in which a browser would evaluate them. There are no circles of imports. The module itself is the last part, unwrapped,
 * and so may wait at its top level.
 */
export function joinModules(entry: string, read: (path: string) => Source): string {
  const variables = new Map<string, string>();
  const parts: string[] = [];

  function add(path: string): string {
    const known = variables.get(path);
    if (known !== undefined) return known;
    const { text, pathOf } = read(path);
    const { imports, body, exports } = rewrite(text, (name) => add(pathOf(name)));
    const inner = [...imports, body].filter((part) => part !== '').join('\n');
    const variable = `$${variables.size}`;
    variables.set(path, variable);
    if (path === entry) parts.push(inner);
    else parts.push(`const ${variable} = (() => {\n${inner}\nreturn { ${exports.join(', ')} };\n})();`);
    return variable;
  }

  add(entry);
  return parts.join('\n');
}
