export { bundledCatalogue, CATALOGUE_VERSION, CatalogueInvalid, catalogueOf } from "./Catalogue.ts"
export { CATALOGUE_URL, type CatalogueChanges, compareCatalogues } from "./CatalogueChanges.ts"
