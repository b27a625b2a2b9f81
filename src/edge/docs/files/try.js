// Starts Swagger UI on /docs/try. All requests go to the address that this page was loaded from, whichever that is.
const here = new URL('..', location.href).href.replace(/\/$/, '');

const dark = matchMedia('(prefers-color-scheme: dark)');
const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', shade);
shade();

/**
 * Copies the parameters of each path into its operations: Swagger UI shows parameters of a path without names in an
 * operation that was opened by its address.
 */
function ownParameters({ paths, components }) {
  const found = (parameter) => (parameter.$ref ? components.parameters[parameter.$ref.split('/').at(-1)] : parameter);
  const typed = (schema) => (schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema);
  for (const item of Object.values(paths)) {
    const { parameters: shared = [], ...operations } = item;
    delete item.parameters;
    for (const operation of Object.values(operations)) {
      const parameters = [...shared, ...(operation.parameters ?? [])].map(found);
      operation.parameters = parameters.map((parameter) => ({ ...parameter, schema: typed(parameter.schema) }));
    }
  }
}

async function start() {
  const answer = await fetch('../openapi.json');
  const spec = await answer.json();
  spec.servers = [{ url: here, description: 'This service' }];
  spec.components.securitySchemes.applicationToken.flows.clientCredentials.tokenUrl = `${here}/api/v1/authenticate`;
  // Only one way to authorize is shown. The other one is for the token endpoint only, and there the browser asks for
  // the secret itself.
  delete spec.components.securitySchemes.applicationSecret;
  spec.paths['/api/v1/authenticate'].post.security = [];
  ownParameters(spec);
  // The page already has this title above.
  spec.info.title = '';
  spec.info.description = '';
  document.getElementById('reference').replaceChildren();
  const ui = globalThis.SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelRendering: 'example',
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    persistAuthorization: false,
    // By default Swagger UI shows a badge from another host.
    validatorUrl: null,
    layout: 'BaseLayout',
    onComplete: () => document.documentElement.setAttribute('data-ready', ''),
  });
  ui.initOAuth({ scopes: ['svc:application:read', 'svc:device:read'] });
}

void start();
