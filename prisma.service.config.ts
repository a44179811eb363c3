// Prisma's settings for the service's schema. Use them with
// `npx prisma <command> --config prisma.service.config.ts`.
import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/service',
  migrations: { path: 'prisma/service/migrations' },
  // Read only by `migrate`; `generate` must work without a database.
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
