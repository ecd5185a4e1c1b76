"""What API Gateway is told (`openapi.yaml`), read and checked."""
