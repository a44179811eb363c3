// Prisma's settings for the sandbox's schema. Use them with
// `npx prisma <command> --config prisma.sandbox.config.ts`.
import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/sandbox',
  migrations: { path: 'prisma/sandbox/migrations' },
  // Read only by `migrate`; `generate` must work without a database.
  datasource: { url: process.env.SANDBOX_DATABASE_URL ?? '' },
});
