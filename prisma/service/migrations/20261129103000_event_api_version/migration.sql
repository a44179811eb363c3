-- The version of the API whose form the data of an event has. All events so far have the first.
ALTER TABLE "event" ADD COLUMN "api_version" TEXT NOT NULL DEFAULT '1';
