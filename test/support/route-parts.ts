import { z } from 'zod';
import type { Route } from '../../src/contract/route.js';

export function hasBody(route: Route): boolean {
  return !(route.body instanceof z.ZodUndefined);
}

export function queryNames({ query }: Route): string[] {
  return query instanceof z.ZodObject ? Object.keys(query.shape) : [];
}
