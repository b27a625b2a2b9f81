import { clientOperations, type Operation, SCOPES, shapeOf } from './operations.ts';
import { typesOf } from './types.ts';

const exported = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
/** `package` is a word of the language. */
const wordOf = (name: string): string => (name === 'package' ? 'packageName' : name);

/** The client of Go: a method for each operation, over the transport, with the types of the schemas. */
export async function goFiles(): Promise<Map<string, string>> {
  const { files, nameOf } = await typesOf('go', { package: 'lapel', 'just-types': 'true' });
  const typeOf = (schema: string): string => {
    const shape = shapeOf(schema);
    if (shape.kind === 'any') return 'any';
    return shape.kind === 'list' ? `[]${nameOf(shape.schema)}` : nameOf(shape.schema);
  };

  function methodsOf(operation: Operation): string {
    const { name, summary, method, path, params, body, bodyOptional, query, answer, repeatable, isPaged } = operation;
    // A patch removes what is null, which a struct cannot say.
    const isLoose = body !== undefined && method === 'PATCH';
    const bodyType = body === undefined ? '' : isLoose ? 'any' : `${bodyOptional ? '*' : ''}${typeOf(body)}`;
    const places = [
      'ctx context.Context',
      ...params.map((param) => `${wordOf(param.name)} ${param.isNumber ? 'int64' : 'string'}`),
      ...(body === undefined ? [] : [`body ${bodyType}`]),
      ...(query === undefined ? [] : [`query *${typeOf(query)}`]),
    ];
    const given = [
      `method: "${method}"`,
      `path: "${path}"`,
      `params: map[string]any{${params.map((param) => `"${param.name}": ${wordOf(param.name)}`).join(', ')}}`,
      ...(query === undefined ? [] : ['query: query']),
      ...(body === undefined ? [] : ['body: body']),
      ...(repeatable ? ['repeatable: true'] : []),
      'options: options',
    ].join(', ');
    const fill =
      bodyOptional && body !== undefined ? [`\tif body == nil {`, `\t\tbody = &${typeOf(body)}{}`, '\t}'] : [];
    const loose =
      isLoose && shapeOf(body).kind === 'object'
        ? ` The body is a ${typeOf(body)}, or a map, in which a member can be nil.`
        : '';
    const head = `// ${exported(name)} makes the call: ${summary}.${loose}`;
    const signature = [...places, 'options ...CallOption'].join(', ');
    if (answer === undefined)
      return [
        head,
        `func (c *Client) ${exported(name)}(${signature}) error {`,
        ...fill,
        `\t_, err := c.do(ctx, call{${given}}, "", nil)`,
        '\treturn err',
        '}',
        '',
      ].join('\n');
    const isAny = shapeOf(answer).kind === 'any';
    const result = isAny ? 'any' : `*${typeOf(answer)}`;
    const lines = [
      head,
      `func (c *Client) ${exported(name)}(${signature}) (${result}, error) {`,
      ...fill,
      `\tvar answer ${typeOf(answer)}`,
      `\tif _, err := c.do(ctx, call{${given}}, "", &answer); err != nil {`,
      '\t\treturn nil, err',
      '\t}',
      `\treturn ${isAny ? '' : '&'}answer, nil`,
      '}',
      '',
    ];
    if (!isPaged) return lines.join('\n');
    return [
      ...lines,
      `// ${exported(name)}Pages calls visit with each page, until it returns an error, which is returned.`,
      `func (c *Client) ${exported(name)}Pages(${[...places, `visit func(page *${typeOf(answer)}) error`, 'options ...CallOption'].join(', ')}) error {`,
      '\tfor page := ""; ; {',
      `\t\tvar answer ${typeOf(answer)}`,
      `\t\tnext, err := c.do(ctx, call{${given}}, page, &answer)`,
      '\t\tif err != nil {',
      '\t\t\treturn err',
      '\t\t}',
      '\t\tif err := visit(&answer); err != nil || next == "" {',
      '\t\t\treturn err',
      '\t\t}',
      '\t\tpage = next',
      '\t}',
      '}',
      '',
    ].join('\n');
  }

  const head = '// Code generated from the OpenAPI document of Lapel. DO NOT EDIT.\n';
  const operations = `${head}
package lapel

import "context"

const allScopes = "${SCOPES}"

${clientOperations().map(methodsOf).join('\n')}`;
  // A member of any type that was not given is left out, and is not null.
  const types = (files.get('stdout') ?? '').replace(/(\binterface\{\}\s+`json:"[^",]+)"`/g, '$1,omitempty"`');
  return new Map([
    ['operations.go', operations],
    ['types.go', `${head}\npackage lapel\n\n${types.replace(/ +$/gm, '')}`],
  ]);
}
