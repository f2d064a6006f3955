-- Saved views: searches that people keep under a name (docs/reference/http.md#views). Those that come with the product
-- are not stored.
CREATE TABLE views (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  resource text NOT NULL,
  q text NOT NULL,
  columns text[] NOT NULL,
  sort text,
  owner text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT views_name_key UNIQUE (resource, name)
);
