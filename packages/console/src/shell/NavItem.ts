/** A page that the sidebar leads to. */
export interface NavItem {
  readonly path: string
  readonly title: string
  /** The key after `g` that opens the page. */
  readonly key: string
  /** The address of a page of another service. */
  readonly href?: string
}
