/** What is declared of a folder, or of a file beside the folders. */
export interface FolderRule {
  /** One sentence for the list of folders in the README of the package. */
  readonly meaning: string
  /** The folders, and files beside them, that it may import. Their tables it may read, too. */
  readonly knows: ReadonlyArray<string>
  /** The folders whose tables its SQL reads, although it imports nothing of them. */
  readonly reads?: ReadonlyArray<string>
  /** The tables of the database that the folder owns. Those of a feature are in its manifest. */
  readonly tables?: ReadonlyArray<string>
}

/** The folders of a package or of one folder in it, from the top to the bottom. */
export type Folders = Readonly<Record<string, FolderRule>>

/** Folders by the name of their package, or by the path of the folder that has them: `control-plane/src/features`. */
export type FolderTables = Readonly<Record<string, Folders>>
