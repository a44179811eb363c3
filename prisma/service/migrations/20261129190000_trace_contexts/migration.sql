-- Where traces are recorded: by what later work continues that of a request, webhook or event.
ALTER TABLE "operation" ADD COLUMN "traceparent" TEXT;
ALTER TABLE "webhook_event" ADD COLUMN "traceparent" TEXT;
ALTER TABLE "event" ADD COLUMN "traceparent" TEXT;
