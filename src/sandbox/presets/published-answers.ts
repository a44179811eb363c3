// Answers in the forms that the bank's own clients show (real-bank.md A.13), where they differ from
// the contract's: text after a change, nothing after a void, numbers as the ids of webhook
// registrations, and errors of two families.

interface Answered {
  method: string;
  path: string;
  status: number;
}

const registrations = '/baas/api/v1/webhooks';
const errorFields = { charges: ['title', 'traceId', 'errors'], other: ['title', 'code', 'errors'] };

/** What the body of an answer becomes; null where its form is the contract's. */
export function publishedForm({
  method,
  path,
  status,
}: Answered): ((body: string) => string) | null {
  if (!path.startsWith('/baas/')) return null;
  if (status >= 400) {
    const fields = errorFields[path.startsWith('/baas/v1/charges') ? 'charges' : 'other'];
    return (body) => {
      const error = Object.entries(JSON.parse(body) as object);
      return JSON.stringify(Object.fromEntries(error.filter(([name]) => fields.includes(name))));
    };
  }
  if (method === 'PATCH') return () => 'Updated';
  if (method === 'POST' && path.endsWith('/void')) return () => '';
  if (!path.startsWith(registrations)) return null;
  return (body) => JSON.stringify(JSON.parse(body, withNumber));
}

function withNumber(name: string, value: unknown): unknown {
  return name === 'id' && typeof value === 'string' ? registrationNumber(value) : value;
}

/** The id of a registration as a number. */
export function registrationNumber(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16);
}
