// Compares the statuses of responses with the API reference.
import type { DocumentedRoute } from '../../src/platform/http/openapi.js';

/** Throws when `routes` has a route of this call that does not declare the status. */
export function assertDeclared(
  routes: readonly DocumentedRoute[],
  method: string,
  url: string,
  status: number,
): void {
  const path = url.split('?')[0]!;
  const candidates = routes.filter(
    ({ route }) => route.method === method && fits(route.path, path),
  );
  const [found] = candidates.sort((a, b) => parametersOf(a) - parametersOf(b));
  if (!found) return;
  const { route, responses } = found;
  if (status === route.successStatus || responses.some((one) => one.status === status)) return;
  throw new Error(`The API reference of ${method} ${route.path} does not declare ${status}.`);
}

function fits(pattern: string, path: string): boolean {
  const [expected, given] = [pattern.split('/'), path.split('/')];
  return (
    expected.length === given.length &&
    expected.every((part, index) =>
      part.startsWith('{') ? given[index] !== '' : part === given[index],
    )
  );
}

/** A path without parameters is served before one that has them. */
function parametersOf({ route }: DocumentedRoute): number {
  return route.path.split('{').length;
}
